-- One row per stall, a burst of pauses no more than 500 ms apart: waiters (originals that waited), rank (by time), stood (seconds, the pauses together).
with steps as (
  select store_host, start_ms, end_ms, waiters, max(end_ms) over (
    partition by store_host order by start_ms, end_ms rows between unbounded preceding and 1 preceding) as before
  from pauses
), bursts as (
  select store_host, start_ms, end_ms, waiters, sum(if(start_ms - before <= 500, 0, 1)) over (
    partition by store_host order by start_ms, end_ms rows between unbounded preceding and current row) as burst
  from steps
), stalled as (
  select store_host, min(start_ms) as begun, max(end_ms) as ended, count(*) as pauses, sum(end_ms - start_ms) as stood_ms, sum(waiters) as waiters
  from bursts group by store_host, burst
)
select begun as start_ms, ended as end_ms, pauses, stood_ms, waiters, store_host, row_number() over (order by begun, store_host) as rank,
  timestamp_millis(begun) as start, timestamp_millis(ended) as `end`, (ended - begun) / 1000D as seconds, stood_ms / 1000D as stood
from stalled order by rank
