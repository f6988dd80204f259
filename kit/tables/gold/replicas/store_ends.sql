-- One row per store host, over every copy and replica: store_host, begin (physical offset of the first record), last_offset (of the last),
-- end (behind it), first_time, last_time (store times), file (of the last record). As many rows as brokers that led.
with whole as (
  select store_host, file, physical_offset, store_size, store_timestamp from records
  where problem is null and store_host is not null and store_size is not null
), hosts as (
  select store_host, min(physical_offset) as begin, max(physical_offset) as last_offset, min(store_timestamp) as first_time,
    max(store_timestamp) as last_time
  from whole group by store_host
)
select h.store_host, h.begin, h.last_offset, h.last_offset + max(w.store_size) as `end`, h.first_time, h.last_time, min(w.file) as file
from hosts h join whole w on w.store_host = h.store_host and w.physical_offset = h.last_offset
group by h.store_host, h.begin, h.last_offset, h.first_time, h.last_time
order by h.store_host
