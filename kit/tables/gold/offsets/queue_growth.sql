-- One row per point of the curve by which a queue of a consumed topic grew; without records from the consume queues: without times, one row a queue.
with stores as (
  select root, max(broker) as broker from file_brokers group by root
), points as (
  -- A store that no broker is known for: whatever is consumed is of it.
  select c.topic, coalesce(s.broker, c.root) as broker, c.queue_id, c.time, max(c.`end`) as `end`, min(c.begin) as begin
  from queue_curve c left join stores s on s.root = if(c.root = '', '.', c.root)
  group by c.topic, coalesce(s.broker, c.root), c.queue_id, c.time
), only as (
  select if(count(distinct root) = 1, max(broker), '') as broker from stores
), stored as (
  select count(*) as n from (select 1 as one from stored_messages limit 1) first
)
select topic, broker, queue_id, time, max(`end`) over (partition by topic, broker, queue_id order by time) as `end`,
  min(begin) over (partition by topic, broker, queue_id) as begin
from points
union all
select q.topic, o.broker, q.queue_id, cast(null as timestamp) as time, q.`end`, q.begin
from consumequeue_ends q cross join only o cross join stored where n = 0
order by topic, broker, queue_id, time
