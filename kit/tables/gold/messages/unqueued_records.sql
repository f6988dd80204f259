-- One row per record that should have a unit in a consume queue and has none: file, physical_offset, topic, queue_id, queue_offset, offset_msg_id, why:
-- `no unit for it` and `behind its last unit` (the queue was not written on) are losses; `before its first unit` is an older part of the queue that was
-- deleted or not copied, `no file of this queue` one that was not copied at all. At most 10,000. DefaultMessageStore.CommitLogDispatcherBuildConsumeQueue.
with units as (
  select topic, queue_id, logical_offset, physical_offset from consumequeue where kind = 'plain' and topic is not null and problem is null
), lone as (
  select r.file, r.physical_offset, r.topic, r.queue_id, r.queue_offset, r.offset_msg_id
  from records r left anti join units u
    on r.topic = u.topic and r.queue_id = u.queue_id and r.queue_offset = u.logical_offset and r.physical_offset = u.physical_offset
  where (r.sys_flag & 12) not in (4, 12) and r.problem is null
), ends as (
  select topic, queue_id, min(logical_offset) as low, max(logical_offset) as high from units group by topic, queue_id
)
select l.*, case when e.low is null then 'no file of this queue' when l.queue_offset < e.low then 'before its first unit'
  when l.queue_offset > e.high then 'behind its last unit' else 'no unit for it' end as why
from lone l left join ends e on l.topic = e.topic and l.queue_id = e.queue_id
order by l.file, l.physical_offset
limit 10000
