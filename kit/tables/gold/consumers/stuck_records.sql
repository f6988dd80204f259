-- One row per record at which a queue is stuck while others went on (`queue_courses`), or was far behind at the last look, of several brokers one each.
with stuck as (
  select distinct topic, queue_id, coalesce(if(others > 0, stand_offset, last_offset), 0) as queue_offset from queue_courses
  where (others > 0 or last_lag > 100) and not startswith(topic, '%RETRY%') and not startswith(topic, '%DLQ%')
), placed as (
  select r.topic, r.queue_id, r.queue_offset, r.file, r.physical_offset, r.store_timestamp, r.uniq_key,
    row_number() over (partition by r.topic, r.queue_id, r.queue_offset order by r.file, r.physical_offset) as nth
  from records r join stuck s on r.topic = s.topic and r.queue_id = s.queue_id and r.queue_offset = s.queue_offset
)
select topic, queue_id, queue_offset, file, physical_offset, store_timestamp, uniq_key
from placed where nth <= 10
order by topic, queue_id, queue_offset, file, physical_offset
