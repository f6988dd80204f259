-- One row per row of `admin_queues` about a group's queue whose next message is deleted: first (the first offset still stored). `#LastTime` is that of the
-- message at offset - 1 (AdminBrokerProcessor.getConsumeStats); N/A with a difference means that it is no longer stored.
with firsts as (
  select topic, coalesce(broker, '') as broker, queue_id, max(min_offset) as first
  from admin_queues where min_offset is not null group by topic, coalesce(broker, ''), queue_id
)
select a.file, a.line, a.`group`, a.topic, a.broker, a.queue_id, a.offset, f.first
from admin_queues a left join firsts f on f.topic = a.topic and f.broker = coalesce(a.broker, '') and f.queue_id = a.queue_id
where a.`group` <> '' and a.topic <> '' and a.command in ('consumerProgress', 'brokerConsumeStats') and a.last_time = 'N/A' and a.offset > 0
  and a.diff > 0 and (f.first is null or f.first > a.offset)
order by a.file, a.line
