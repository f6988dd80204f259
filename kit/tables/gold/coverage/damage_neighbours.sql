-- One row per damaged range of a commit log file and store host with records in it: after, before (times of its neighbours), cut (the copy ends there).
with ranges as (
  select x.store_host, s.file, s.start + coalesce(f.base, 0) as start, s.end + coalesce(f.base, 0) as end, s.reason = 'truncated' as cut
  from skipped s join files f on s.file = f.file join store_extent x on s.file = x.file
  where s.reason in ('corrupt', 'truncated') and f.replica_of is null and x.store_host is not null and x.first is not null
), near as (
  select m.store_host, m.physical_offset as at, m.store_timestamp as time
  from messages_within m left semi join ranges r on m.file = r.file
  where m.store_host is not null and m.physical_offset is not null and m.store_timestamp is not null
), points as (
  select store_host, at, time, 1 as place, cast(null as string) as file, cast(null as bigint) as start from near
  union all
  select store_host, start, null, 0, file, start from ranges
  union all
  select store_host, end, null, 2, file, start from ranges
), placed as (
  -- A record at the first byte behind a range is the first one behind it.
  select store_host, file, start, place,
    last_value(time) ignore nulls over (
      partition by store_host order by at, place rows between unbounded preceding and current row) as after,
    last_value(time) ignore nulls over (
      partition by store_host order by at desc, place rows between unbounded preceding and current row) as before
  from points
)
select r.store_host, r.file, r.start, r.end, a.after, b.before, r.cut
from ranges r
join placed a on a.place = 0 and a.store_host = r.store_host and a.file = r.file and a.start = r.start
join placed b on b.place = 2 and b.store_host = r.store_host and b.file = r.file and b.start = r.start
order by r.end - r.start desc, r.store_host, r.file, r.start limit 20000
