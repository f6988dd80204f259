-- One row per slow append (`in lock`: CommitLog.putMessage; DefaultMessageStore.putMessage) or flush of over 500 ms that store.log prints with its cost.
with numbered as (
  select event, ts, file, line, try_cast(value_cost as bigint) as cost_ms, row_number() over (partition by event order by ts, file, line) as nth
  from events where event in ('put-slow-in-lock', 'put-slow', 'flush-slow') and ts is not null and try_cast(value_cost as bigint) is not null
)
select event, ts, cost_ms from numbered where nth <= 20000 order by event, ts, file, line
