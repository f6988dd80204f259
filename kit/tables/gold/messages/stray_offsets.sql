-- One row per consumer or delay offset outside its queue: file, kind (`consumer`, `delay`), topic, group, queue_id, value, start, end (the next offset to
-- be written), why: `beyond the end` (the queue is shorter than what was consumed: records were lost, or it was made anew) or `before the start` (not
-- consumed and no longer there). Start and end are those of the store the offsets belong to, by RocketMQ's own folders; without these they are only
-- compared where there is one store. At most 10,000. ConsumerOffsetManager, ScheduleMessageService.
with every as (
  select nullif(regexp_extract(concat('/', file), '^(.*/)consumequeue/[^/]+/[0-9]+/[0-9]{20}$', 1), '') as store, topic, queue_id, logical_offset
  from consumequeue where kind = 'plain' and topic is not null and problem is null and logical_offset is not null
  union all
  select nullif(regexp_extract(concat('/', file), '^(.*/)commitlog/[0-9]{20}$', 1), ''), topic, queue_id, queue_offset
  from records where (sys_flag & 12) not in (4, 12) and problem is null
), ends as (
  select store, topic, queue_id, min(logical_offset) as low, max(logical_offset) + 1 as high from every group by store, topic, queue_id
), counted as (
  select count(*) as stores from (select distinct store from ends)
), placed as (
  select *, nullif(regexp_extract(concat('/', file), '^(.*/)config/[^/]+$', 1), '') as store
  from offsets where kind in ('consumer', 'delay') and not backup
)
select p.file, p.kind, p.topic, p.`group`, p.queue_id, p.value, e.low as `start`, e.high as `end`,
  if(p.value > e.high, 'beyond the end', 'before the start') as why
from placed p cross join counted c
  join ends e on p.topic = e.topic and p.queue_id = e.queue_id and (c.stores = 1 or p.store = e.store)
where p.value > e.high or p.value < e.low
order by p.file, p.kind, p.topic, p.`group` nulls first, p.queue_id, p.value
limit 10000
