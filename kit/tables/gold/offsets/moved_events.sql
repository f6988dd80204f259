-- One row per queue and correction of an offset that a broker stored as a message, a record of OFFSET_MOVED_EVENT with the JSON of an OffsetMovedEvent for
-- each refused pull (PullMessageProcessor.generateOffsetMovedEvent): n (such messages), place and body (of the first), kept (a record between the two
-- offsets is stored: a reset moved the offset, for what is deleted before it is consumed is stored no more).
with stored as (
  select file, physical_offset, store_timestamp, cast(body as string) as body from records where topic = 'OFFSET_MOVED_EVENT'
), moves as (
  select file, physical_offset, store_timestamp, body, get_json_object(body, '$.consumerGroup') as `group`,
    get_json_object(body, '$.messageQueue.topic') as topic, get_json_object(body, '$.messageQueue.brokerName') as broker,
    try_cast(get_json_object(body, '$.messageQueue.queueId') as bigint) as queue_id,
    try_cast(get_json_object(body, '$.offsetRequest') as bigint) as requested, try_cast(get_json_object(body, '$.offsetNew') as bigint) as next
  from stored
), counted as (
  select *, count(*) over alike as n, min(store_timestamp) over alike as first, max(store_timestamp) over alike as last,
    row_number() over (partition by `group`, topic, broker, queue_id, requested, next order by store_timestamp nulls last, file, physical_offset) as nth
  from moves window alike as (partition by `group`, topic, broker, queue_id, requested, next)
), firsts as (
  select *, row_number() over (order by file, physical_offset) as number from counted where nth = 1
), kept as (
  select distinct m.number
  from firsts m join records r on r.topic = m.topic and r.queue_id = m.queue_id and r.queue_offset >= m.requested and r.queue_offset < m.next
)
select m.`group`, m.topic, m.broker, m.queue_id, m.requested, m.next, m.n, m.file, m.physical_offset, m.body, m.first, m.last, k.number is not null as kept
from firsts m left join kept k on k.number = m.number
order by first nulls last, file, physical_offset limit 5000
