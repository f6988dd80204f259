-- One row per slow append or flush that store.log prints: event, ts, cost_ms. At most 20,000 of each kind, the first; those without a cost left out.
-- Over 500 ms: CommitLog.putMessage (`in lock`), DefaultMessageStore.putMessage, CommitLog.FlushRealTimeService.
with numbered as (
  select event, ts, file, line, try_cast(value_cost as bigint) as cost_ms, row_number() over (partition by event order by ts, file, line) as nth
  from events where event in ('put-slow-in-lock', 'put-slow', 'flush-slow') and ts is not null and try_cast(value_cost as bigint) is not null
)
select event, ts, cost_ms from numbered where nth <= 20000 order by event, ts, file, line
