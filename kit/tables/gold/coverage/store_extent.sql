-- One row per commit log file and store host whose records are in it, copies of files included: physical offsets (end_offset: behind the last), times.
select file, store_host, count(*) as records, min(physical_offset) as first_offset, max(physical_offset) as last_offset,
  max(physical_offset + store_size) as end_offset, sum(store_size) as bytes, min(store_timestamp) as first, max(store_timestamp) as last
from messages_within
group by file, store_host
order by file, store_host
