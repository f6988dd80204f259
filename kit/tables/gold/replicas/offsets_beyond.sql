-- One row per saved consumer offset beyond the end of its queue by the records, else by topicStatus (of a name server that knows no master any more:
-- the slave's; the largest if several outputs have it). Where there is a slave, by its copies; of several the last. At most 20,000 rows.
with stored as (
  select topic, queue_id, max(end_offset) as end_offset from stored_queues where end_offset is not null group by topic, queue_id
), reported as (
  select topic, queue_id, max(max_offset) as end_offset
  from admin_queues cross join (select count(*) as records from stored_queues) r
  where command = 'topicStatus' and max_offset is not null and r.records = 0
  group by topic, queue_id
), ends as (
  select topic, queue_id, end_offset from stored union all select topic, queue_id, end_offset from reported
), slaves as (
  select count_if(slave) as n from file_brokers
), beyond as (
  select o.`group`, o.topic, o.queue_id, o.value as offset, e.end_offset, o.file,
    row_number() over (partition by o.`group`, o.topic, o.queue_id order by o.file desc, o.line desc, o.value desc) as back
  from offsets o join ends e on o.topic = e.topic and o.queue_id = e.queue_id cross join slaves left join file_brokers f on f.file = o.file
  where o.kind = 'consumer' and not o.backup and o.value > e.end_offset and (n = 0 or f.slave)
)
select `group`, topic, queue_id, offset, end_offset, file from beyond where back = 1
order by `group`, topic, queue_id limit 20000
