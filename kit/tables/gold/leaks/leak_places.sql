-- One row per role of a leaked record and rank: role (resent: the records with which the leak began, written by a consumer; leaked; committed; twin: a
-- half record with UNIQ_KEY and check count of another: one message became two; discarded; arrived: in the check-limit topic). The first 3.
with twins as (
  select uniq_key, coalesce(check_times, -1) as checks from leaked_records where place = 'half' and uniq_key is not null
  group by uniq_key, coalesce(check_times, -1) having count(*) > 1
), roles as (
  select l.file, l.physical_offset, l.store_timestamp, l.reconsume_times, l.check_times, l.committed, explode(array_compact(array(
    case when l.place = 'schedule' and l.reconsume_times > 0 and l.resent and l.check_times is null then 'resent' end,
    case when l.place <> 'discarded' then 'leaked' end,
    case when l.place <> 'discarded' and l.committed then 'committed' end,
    case when l.place = 'half' and t.uniq_key is not null then 'twin' end,
    case when l.place = 'discarded' then 'discarded' end,
    case when l.place = 'discarded' and l.topic = 'TRANS_CHECK_MAX_TIME_TOPIC' then 'arrived' end))) as role
  from leaked_records l left join twins t on t.uniq_key = l.uniq_key and t.checks = coalesce(l.check_times, -1)
), seconds as (
  select role, date_trunc('second', store_timestamp) as second, count(*) as n from roles group by role, date_trunc('second', store_timestamp)
), begun as (
  -- The second of the third record of each role: only what is stored until then needs an order, for there may be millions.
  select role, max(so_far) as records, min(case when so_far >= 3 then second end) as until from (
    select role, second, sum(n) over (partition by role order by second nulls last) as so_far from seconds
  ) group by role
)
select role, records, store_timestamp, file, physical_offset, reconsume_times, check_times, committed from (
  select r.*, b.records, row_number() over (partition by r.role order by r.store_timestamp nulls last, r.file, r.physical_offset) as nth
  from roles r join begun b on b.role = r.role and (b.until is null or date_trunc('second', r.store_timestamp) <= b.until)
) where nth <= 3
order by role, nth
