-- One row per broker address in the records that have a store time: store_host, n (records), first_offset, first_ms and last_ms (store times since 1970).
-- At most as many as there are brokers, and one for each damaged address; the 1,000 with most records.
select store_host, count(*) as n, min(physical_offset) as first_offset, min(unix_millis(store_timestamp)) as first_ms,
  max(unix_millis(store_timestamp)) as last_ms
from records where store_host is not null and store_timestamp is not null group by store_host order by n desc, store_host limit 1000
