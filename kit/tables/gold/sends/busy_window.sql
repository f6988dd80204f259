-- One row, none if no send failed and nothing stalled: start and end (ms since 1970, and times) of that, low_ms and high_ms (the ends of the time axis),
-- step_ms (its steps, at most 1,500). The time in a log is that of the failure, some second of it where it has no ms, as of clients of 4.x; a ledger may hold any number.
with failed as (
  select ts as begun, ts + greatest(coalesce(cost_ms, 0), if(source = 'ledger' or ts % 1000 <> 0, 0, 1000)) as ended from failed_sends
  where not other and ts is not null
), spans as (
  select cast(min(begun) as bigint) as begun, cast(max(ended) as bigint) as ended from failed
  where begun > -9214560000000 and ended < 9214646399999
  union all
  select min(start_ms) as begun, max(end_ms) as ended from stalls
), stepped as (
  select start_ms, end_ms, 100 * greatest(1, (end_ms - start_ms + 169999) div 150000) as step_ms
  from (select min(begun) as start_ms, max(ended) as end_ms from spans) where start_ms is not null
)
select start_ms, end_ms, timestamp_millis(start_ms) as start, timestamp_millis(end_ms) as `end`, start_ms - 10000 - pmod(start_ms - 10000, step_ms) as low_ms, end_ms + 10000 as high_ms, step_ms
from stepped order by start_ms
