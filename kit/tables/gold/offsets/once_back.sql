-- One row per queue of which the broker says once that a client committed a smaller offset, by a notable number of messages: group, topic,
-- queue_id, messages. As many rows as queues. broker/offset/ConsumerOffsetManager.commitOffset.
-- Two clients that share an id make a stream of such lines; a restart repeats what was not committed yet (up to 10 messages); one queue that goes
-- back by no more than a pull brings (pullBatchSize 32) is a request that was late.
with queues as (
  select `group`, topic, queue_id, sum(n) as n, min(stored - requested) as messages
  from offset_statements
  where event = 'consumer-offset-back' and `group` is not null and topic is not null and queue_id is not null and stored is not null
    and requested is not null
  group by `group`, topic, queue_id
), topics as (
  select `group`, topic, count(*) as queues from queues group by `group`, topic having max(n) = 1
)
select q.`group`, q.topic, q.queue_id, q.messages
from queues q join topics t on q.`group` = t.`group` and q.topic = t.topic
where q.messages >= 10 and (t.queues > 1 or q.messages > 32)
order by q.`group`, q.topic, q.queue_id
