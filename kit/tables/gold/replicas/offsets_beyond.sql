-- One row per saved consumer offset beyond the end of its queue by the records, else by topicStatus (of a name server that knows no master any
-- more: the slave's; the largest if several outputs have it): group, topic, queue_id, offset, end_offset, file. At most 20,000 rows.
with stored as (
  select topic, queue_id, max(end_offset) as end_offset from stored_queues where end_offset is not null group by topic, queue_id
), reported as (
  select topic, queue_id, max(max_offset) as end_offset
  from admin_queues cross join (select count(*) as records from stored_queues) r
  where command = 'topicStatus' and max_offset is not null and r.records = 0
  group by topic, queue_id
), ends as (
  select topic, queue_id, end_offset from stored union all select topic, queue_id, end_offset from reported
)
select o.`group`, o.topic, o.queue_id, o.value as offset, e.end_offset, o.file
from offsets o join ends e on o.topic = e.topic and o.queue_id = e.queue_id
where o.kind = 'consumer' and not o.backup and o.value > e.end_offset
order by o.`group`, o.topic, o.queue_id, o.file, o.line, o.value
limit 20000
