-- One row per store host, topic and queue with records: end_offset (queue offset behind the last undamaged one, null without).
select store_host, topic, queue_id, count(*) as records, max(case when problem is null then queue_offset end) + 1 as end_offset
from records where topic is not null group by store_host, topic, queue_id order by store_host, topic, queue_id
