-- One row: present (boolean: the evidence has a business table), `rows` (keys of the business tables), joined (of these, keys of transactions),
-- without_message (not of a committed one), pending (of those, of an open one), shared (boolean: a key stands in several tables).
with states as (
  select r.key, r.file, bool_or(t.state = 'committed') as committed, bool_or(t.state = 'pending') as pending
  from transaction_rows r join transactions t on t.uniq_key = r.uniq_key
  where t.state is not null group by r.key, r.file
), tables as (
  select coalesce(sum(n), 0) > 0 as present, coalesce(max(tables), 0) > 1 as shared
  from (select count(*) as n, count(distinct file) as tables from rows where role = 'business' group by key) t
)
select max(p.present) as present, bool_or(p.shared) as shared, count(b.key) as `rows`, count(s.key) as joined,
  count_if(b.key is not null and not coalesce(s.committed, false)) as without_message,
  count_if(b.key is not null and not coalesce(s.committed, false) and coalesce(s.pending, false)) as pending
from tables p left join business_rows b on true left join states s on s.key = b.key and s.file <=> b.file
order by present
