-- One row per what a log or an mqadmin output prints of offsets of queues that moved, file, source and values: timestamp (ms, -1: the end), n (entries),
-- begun (the first time in the file). A slave that corrects nobody's offset prints two lines thousands of times a second (PullMessageProcessor).
with printed as (
  select event, e.file, e.source, line, ts, f.first as begun, coalesce(value_group, value_group_2) as `group`, value_topic as topic,
    value_broker as broker, value_client_id as client_id, value_address as address,
    try_cast(value_queue_id as bigint) as queue_id, try_cast(value_offset as bigint) as offset,
    try_cast(value_next as bigint) as next, try_cast(value_requested as bigint) as requested,
    try_cast(value_stored as bigint) as stored, try_cast(value_min_offset as bigint) as min_offset,
    try_cast(value_max_offset as bigint) as max_offset, if(value_timestamp = 'now', -1, try_cast(value_timestamp as bigint)) as timestamp
  from events e left join files f on f.file = e.file
  where event in ('pull-offset-illegal', 'offset-too-small', 'offset-corrected', 'offset-not-corrected', 'offset-overflow',
    'offset-reset-on-pull', 'offset-reset-started', 'offset-reset-done', 'offset-reset-client', 'offset-reset-command', 'pull-started',
    'group-created', 'consumer-offset-back', 'queue-min-offset')
)
select event, file, source, `group`, topic, broker, client_id, address, queue_id, offset, next, requested, stored, min_offset, max_offset,
  timestamp, count(*) as n, min(line) as line, max(line) as last_line, min(ts) as first, max(ts) as last, begun
from printed
group by event, file, source, `group`, topic, broker, client_id, address, queue_id, offset, next, requested, stored, min_offset, max_offset,
  timestamp, begun
order by first nulls last, file, line, event limit 50000
