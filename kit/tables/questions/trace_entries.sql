-- What clients wrote about messages with these UNIQ_KEYs (`keys`) into the trace topic, or the entries of one of its records (`id`).
with named as (
  select m.file, m.physical_offset from stored_messages m left semi join trace_topics t on m.topic = t.topic
  where m.uniq_key = :id or m.offset_msg_id = :id
)
select t.msg_id as uniq_key, t.file, t.physical_offset, t.type, t.`group`, t.client_host, t.time, t.cost_ms, t.success, t.retry_times, t.state,
  t.request_id, t.topic, t.tags, t.keys, t.store_host, t.offset_msg_id
from traces t left join named n on t.file = n.file and t.physical_offset = n.physical_offset
where array_contains(cast(:keys as array<string>), t.msg_id) or n.file is not null
order by t.time nulls last, t.physical_offset, t.file, t.type, t.offset_msg_id limit 200
