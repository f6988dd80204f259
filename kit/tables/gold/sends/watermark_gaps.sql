-- One row per two seconds or more without a block in a watermark.log, which has one a second (BrokerController.printWaterMark):
-- file, line (of the block behind the gap), start, end, seconds (between the blocks). At most 20,000, the longest. Not one in which the broker of a log
-- in the same folder started: it had stopped.
with blocks as (
  select file, ts, min(line) as line from events where event = 'watermark' and ts is not null group by file, ts
), steps as (
  select file, regexp_replace(file, '[^/]*$', '') as folder, line, ts, lag(ts) over (partition by file order by ts) as before from blocks
), boots as (
  select regexp_replace(file, '[^/]*$', '') as folder, ts as boot from events where event = 'broker-boot' and ts is not null
)
select file, line, before as start, ts as end, (unix_micros(ts) - unix_micros(before)) / 1e6 as seconds
from steps s left anti join boots b on b.folder = s.folder and b.boot > s.before and b.boot <= s.ts
where unix_micros(ts) - unix_micros(before) >= 2000000
order by unix_micros(ts) - unix_micros(before) desc, before, file limit 20000
