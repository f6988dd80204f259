-- One row per unit of a consume queue that does not point to a record of its own: file, topic, queue_id, queue_offset, physical_offset, size, why:
-- `damaged unit`, `another record there` (topic, queue, offset or size differ), `no record there`, or `outside the commitlog files` (nothing can be said).
-- A plain unit is written for every record but those of a transaction's first and last step (CommitLogDispatcherBuildConsumeQueue). At most 10,000.
with units as (
  select file, topic, queue_id, logical_offset as queue_offset, physical_offset, size, problem
  from consumequeue where kind = 'plain' and topic is not null
), queued as (
  select topic, queue_id, queue_offset, physical_offset, store_size from records where (sys_flag & 12) not in (4, 12) and problem is null
), lone as (
  select u.* from units u left anti join queued q
    on u.topic = q.topic and u.queue_id = q.queue_id and u.queue_offset = q.queue_offset and u.physical_offset = q.physical_offset
    and u.size = q.store_size
), taken as (
  select distinct l.physical_offset from lone l left semi join queued q on l.physical_offset = q.physical_offset
), spans as (
  select min(first_offset) as low, max(end_offset) as high from store_extent group by file
), covered as (
  select distinct l.physical_offset from lone l join spans s on l.physical_offset >= s.low and l.physical_offset < s.high
)
select l.file, l.topic, l.queue_id, l.queue_offset, l.physical_offset, l.size,
  case when l.problem is not null then 'damaged unit' when t.physical_offset is not null then 'another record there'
    when c.physical_offset is not null then 'no record there' else 'outside the commitlog files' end as why
from lone l left join taken t on l.physical_offset = t.physical_offset left join covered c on l.physical_offset = c.physical_offset
order by l.file, l.queue_offset, l.topic, l.queue_id, l.physical_offset
limit 10000
