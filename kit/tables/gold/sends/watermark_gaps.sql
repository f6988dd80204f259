-- One row per two seconds or more without a block in a watermark.log, which has one a second (BrokerController.printWaterMark): line (of the block behind
-- the gap). Not one amid which the broker of that folder logged something else: it started, or only the thread that prints the blocks was held up.
with blocks as (
  select file, ts, min(line) as line from events where event = 'watermark' and ts is not null group by file, ts
), others as (
  select file, date_trunc('second', ts) as second from entries where source in ('broker', 'store', 'transaction') and ts is not null group by 1, 2
), steps as (
  select regexp_replace(file, '[^/]*$', '') as folder, file, line, ts, lag(ts) over (partition by file order by ts) as before, null as spoken from blocks
  union all select regexp_replace(file, '[^/]*$', ''), null, null, second, null, second from others
), heard as (
  select *, max(spoken) over (partition by folder order by unix_seconds(ts) range between unbounded preceding and 2 preceding) as last_spoken from steps
)
select file, line, before as start, ts as end, (unix_micros(ts) - unix_micros(before)) / 1e6 as seconds
from heard where unix_micros(ts) - unix_micros(before) >= 2000000 and (last_spoken is null or unix_micros(last_spoken) - unix_micros(before) < 2000000)
order by unix_micros(ts) - unix_micros(before) desc, before, file limit 20000
