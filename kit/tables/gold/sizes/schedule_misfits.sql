-- One row per message that waits for its delay and was refused when it was due (named: a failed delivery names it more than once), or exceeds the broker's
-- limit under its real topic's name (too_large): the first of each delay level, and the first three too large ones by time. queue_id is the delay level -
-- 1; nth (in its level), waiting (records behind it). ScheduleMessageService: the delivered copy differs in its topic only.
with waits as (
  select file, physical_offset, store_timestamp, queue_id, queue_offset, offset_msg_id, property_REAL_TOPIC, store_size, body_size, topic, sys_flag
  from records where topic = 'SCHEDULE_TOPIC_XXXX' and stage in ('schedule', 'leaked')
), delivered as (
  select w.*, l.total_max, l.body_max, l.dledger_max, l.properties_max, w.store_size - octet_length(w.topic) + octet_length(w.property_REAL_TOPIC) as size,
    w.store_size - w.body_size - octet_length(w.topic) - 75 - case when w.sys_flag & 16 <> 0 then 20 else 8 end
      - case when w.sys_flag & 32 <> 0 then 20 else 8 end as properties
  from waits w cross join (select * from size_limits where broker is null) l
  where w.property_REAL_TOPIC is not null
), named as (
  select upper(msg_id) as offset_msg_id from size_refusals where event = 'schedule-put-failed' and msg_id is not null
  group by upper(msg_id) having sum(count) > 1
), misfits as (
  select 'too_large' as kind, file, physical_offset, store_timestamp, queue_id, queue_offset, offset_msg_id from delivered
  where size > total_max or body_size > body_max or size > dledger_max or properties > properties_max
  union all
  select 'named' as kind, w.file, w.physical_offset, w.store_timestamp, w.queue_id, w.queue_offset, w.offset_msg_id
  from waits w join named n on w.offset_msg_id = n.offset_msg_id
), placed as (
  select *, count(*) over (partition by kind) as records,
    row_number() over (partition by kind, queue_id order by queue_offset, physical_offset, file) as nth,
    row_number() over (partition by kind order by store_timestamp nulls last, file, physical_offset) as by_time
  from misfits
)
select c.kind, c.queue_id, c.queue_offset, c.file, c.physical_offset, c.store_timestamp, c.offset_msg_id, c.records, c.nth,
  count(w.queue_offset) as waiting
from placed c left join waits w on w.queue_id = c.queue_id and w.queue_offset > c.queue_offset
where c.nth = 1 or (c.kind = 'too_large' and c.by_time <= 3)
group by c.kind, c.queue_id, c.queue_offset, c.file, c.physical_offset, c.store_timestamp, c.offset_msg_id, c.records, c.nth
order by c.kind, c.queue_id, c.queue_offset, c.file, c.physical_offset
