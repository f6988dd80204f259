-- One row per consumer group, topic and queue with a message that several of its processes handled; broker as in `placed_records`.
select distinct s.`group`, r.topic, r.broker, r.queue_id
from placed_records r join shared_messages s on r.id = xxhash64(s.name)
order by s.`group`, r.topic, r.broker, r.queue_id
