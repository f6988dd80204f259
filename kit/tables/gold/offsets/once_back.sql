-- One row per queue of which the broker says once that a client committed a smaller offset (ConsumerOffsetManager.commitOffset). Two clients that share an
-- id make a stream of such lines; a restart repeats up to 10; queues that go back by no more than a pull brings (pullBatchSize 32) are late requests.
with queues as (
  select `group`, topic, queue_id, sum(n) as n, min(stored - requested) as messages
  from offset_statements
  where event = 'consumer-offset-back' and `group` is not null and topic is not null and queue_id is not null and stored is not null
    and requested is not null
  group by `group`, topic, queue_id
)
select `group`, topic, queue_id, messages
from (select *, max(n) over (partition by `group`, topic) as most from queues) where most = 1 and messages > 32
order by `group`, topic, queue_id
