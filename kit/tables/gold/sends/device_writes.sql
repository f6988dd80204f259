-- One row: the device to which most was written while it was measured: rate (sum of its kB/s), n (values), stored (bytes of all records meanwhile).
with busiest as (
  select subject as device, sum(value) as rate, count(*) as n, min(ts) as first, max(ts) as last
  from host_metrics where name = 'wkB/s' and ts is not null group by subject
  order by rate desc, device limit 1
)
select b.device, b.rate, b.n, b.first, b.last, coalesce(sum(r.store_size), 0) as stored
from busiest b left join records r on r.store_timestamp >= b.first and r.store_timestamp <= b.last
group by b.device, b.rate, b.n, b.first, b.last order by device
