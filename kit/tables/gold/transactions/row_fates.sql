-- One row per table of rows, role (business, tx_log), status and state of the transaction that has the key (committed before rolled back, discarded and
-- pending; null: none): file, role, status, state, `rows`. At most 2,000 rows.
with listed as (
  select distinct uniq_key, state, key from (
    select uniq_key, state, explode(split(keys, '\\s+')) as key from transactions where state is not null
  )
), best as (
  select key, min(case state when 'committed' then 0 when 'rolled_back' then 1 when 'discarded' then 2 else 3 end) as rank from listed group by key
)
select r.file, r.role, r.status, case b.rank when 0 then 'committed' when 1 then 'rolled_back' when 2 then 'discarded' when 3 then 'pending' end as state,
  count(*) as `rows`
from rows r left join best b on b.key = r.key
where r.role in ('business', 'tx_log') and r.key is not null
group by 1, 2, 3, 4
order by role, file nulls first, status nulls first, state nulls first limit 2000
