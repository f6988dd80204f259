-- One row per stretch of queue offsets that no record has, between records that are there (a lost or damaged part of the commit log): broker (its host
-- as in offset message ids), topic, queue_id, first (missing offset), last, missing (how many), behind and before (physical offsets of the records on
-- both sides). An inner batch takes as many offsets as it has messages (INNER_NUM). At most 10,000.
with taken as (
  select coalesce(b.broker, left(r.offset_msg_id, length(r.offset_msg_id) - 16)) as broker, r.topic, r.queue_id, r.queue_offset, r.physical_offset,
    try_add(r.queue_offset, coalesce(if((r.sys_flag & 128) <> 0, try_cast(r.property_INNER_NUM as bigint), null), 1)) as next_offset
  from records r left join store_brokers b on r.file = b.file and r.store_host = b.store_host
  where (r.sys_flag & 12) not in (4, 12) and r.problem is null
), steps as (
  select *, lag(next_offset) over (partition by broker, topic, queue_id order by queue_offset, physical_offset) as first,
    lag(physical_offset) over (partition by broker, topic, queue_id order by queue_offset, physical_offset) as behind
  from taken
)
select broker, topic, queue_id, first, try_subtract(queue_offset, 1) as last, try_subtract(queue_offset, first) as missing, behind,
  physical_offset as before
from steps where queue_offset > first
order by broker, topic, queue_id, first, physical_offset
limit 10000
