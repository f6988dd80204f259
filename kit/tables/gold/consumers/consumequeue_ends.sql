-- One row per queue of a consumed topic in the consume queues, asked where there are no records: end (behind the last unit). As many rows as queues.
select q.topic, q.queue_id, case when max(q.logical_offset) < 9223372036854775807 then max(q.logical_offset) + 1 end as `end`,
  min(q.logical_offset) as begin
from queue_units q join (select distinct topic from offset_looks) c on q.topic = c.topic
where q.problem is null and q.logical_offset is not null
group by q.topic, q.queue_id
order by q.topic, q.queue_id
