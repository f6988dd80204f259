-- One row for each of the first two stalls: the original that waited longest for its end. rank: of the stall.
with waited as (
  select s.rank, o.file, o.physical_offset, o.topic, o.queue_id, o.queue_offset, o.born_timestamp, o.store_timestamp, o.offset_msg_id,
    row_number() over (
      partition by s.rank order by unix_micros(o.store_timestamp) - unix_micros(o.born_timestamp) desc, o.physical_offset, o.file
    ) as nth
  from originals o join stalls s on s.store_host = o.store_host
  where s.rank <= 2 and o.born_timestamp is not null and unix_millis(o.store_timestamp) between s.start_ms and s.end_ms + 200
)
select rank, file, physical_offset, topic, queue_id, queue_offset, born_timestamp, store_timestamp, offset_msg_id
from waited where nth = 1 order by rank
