-- One row per copy that waits for a delay before a dead letter topic which its message has not reached: messages (such ones in all).
with late as (
  select w.id, w.file, w.physical_offset, w.store_timestamp,
    row_number() over (partition by w.id order by w.store_timestamp, w.file, w.physical_offset) as nth
  from records w left anti join records a
    on a.stage = 'dlq' and a.uniq_key is not null and w.id = a.id and w.consumer_group = a.consumer_group
  where w.stage = 'schedule' and startswith(w.property_REAL_TOPIC, '%DLQ%') and w.uniq_key is not null
)
select file, physical_offset, store_timestamp, sum(if(nth = 1, 1, 0)) over () as messages
from late
order by store_timestamp, file, physical_offset limit 100
