-- One row per step of the time axis (`busy_window`): born and stored (originals per second), one column per kind of error (failed sends that ended in the
-- step), stalled (the records stall), util (percent, of the busiest device), written_mb (MB/s on it). Null where nothing measured it.
with steps as (
  select explode(sequence(low_ms, high_ms + step_ms - 1, step_ms)) as at, step_ms from busy_window
), rates as (
  select a.at_ms - pmod(a.at_ms, w.step_ms) as at, sum(case when a.born_or_stored = 'born' then a.n end) as born,
    sum(case when a.born_or_stored = 'stored' then a.n end) as stored
  from arrivals a cross join busy_window w group by 1
), failed as (
  select kind, cast(ts + greatest(coalesce(cost_ms, 0), if(source = 'ledger' or ts % 1000 <> 0, 0, 1000)) as bigint) as ended from failed_sends
  where not other and ts between -9214560000000 and 9214646399999
), errors as (
  select f.ended - pmod(f.ended, w.step_ms) as at,
    count_if(f.kind = 'REJECTREQUEST') as REJECTREQUEST, count_if(f.kind = 'OVERLOAD') as OVERLOAD,
    count_if(f.kind = 'PCBUSY_CLEAN_QUEUE') as PCBUSY_CLEAN_QUEUE, count_if(f.kind = 'TIMEOUT_CLEAN_QUEUE') as TIMEOUT_CLEAN_QUEUE,
    count_if(f.kind = 'PC_SYNCHRONIZED') as PC_SYNCHRONIZED, count_if(f.kind = 'CLIENT_TIMEOUT') as CLIENT_TIMEOUT,
    count_if(f.kind = 'OTHER') as OTHER
  from failed f cross join busy_window w group by 1
), stalled as (
  select distinct s.at from steps s join pauses p on s.at + s.step_ms / 2 < p.end_ms and s.at + s.step_ms / 2 > p.start_ms
), measured as (
  select ts, case name when '%util' then value end as util, case name when 'wkB/s' then value / 1024 end as written_mb, cast(null as double) as cpu
  from host_metrics where name in ('%util', 'wkB/s') and ts is not null
  union all
  select ts, null as util, null as written_mb, busy as cpu from processors where ts is not null
), host as (
  select unix_millis(m.ts) - pmod(unix_millis(m.ts), w.step_ms) as at, max(m.util) as util, max(m.written_mb) as written_mb, max(m.cpu) as cpu
  from measured m cross join busy_window w group by 1
)
select timestamp_millis(s.at) as time, s.step_ms,
  case when x.n > 0 then coalesce(r.born, 0) * 1000.0d / s.step_ms end as born,
  case when x.n > 0 then coalesce(r.stored, 0) * 1000.0d / s.step_ms end as stored,
  coalesce(e.REJECTREQUEST, 0) as REJECTREQUEST, coalesce(e.OVERLOAD, 0) as OVERLOAD, coalesce(e.PCBUSY_CLEAN_QUEUE, 0) as PCBUSY_CLEAN_QUEUE,
  coalesce(e.TIMEOUT_CLEAN_QUEUE, 0) as TIMEOUT_CLEAN_QUEUE, coalesce(e.PC_SYNCHRONIZED, 0) as PC_SYNCHRONIZED,
  coalesce(e.CLIENT_TIMEOUT, 0) as CLIENT_TIMEOUT, coalesce(e.OTHER, 0) as OTHER,
  p.at is not null as stalled, cast(q.size as double) as send_queue, m.util, m.written_mb, m.cpu
from steps s
cross join (select count(first) as n from store_extent) x
left join rates r on r.at = s.at
left join errors e on e.at = s.at
left join stalled p on p.at = s.at
left join send_queue q on q.at_ms = s.at
left join host m on m.at = s.at
order by time
