-- One row per saved consumer offset beyond the end of its queue (`replica_queue_ends`): group, topic, queue_id, offset, end_offset, file.
-- At most 20,000 rows.
select o.`group`, o.topic, o.queue_id, o.value as offset, e.end_offset, o.file
from offsets o join replica_queue_ends e on o.topic = e.topic and o.queue_id = e.queue_id
where o.kind = 'consumer' and not o.backup and o.value > e.end_offset
order by o.`group`, o.topic, o.queue_id, o.file, o.line, o.value
limit 20000
