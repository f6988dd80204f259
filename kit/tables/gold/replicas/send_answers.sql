-- One row per SendStatus in the send ledgers of a cluster (`file_clusters`), and one (status null) for all other rows: named (of these with an offset id).
-- FLUSH_SLAVE_TIMEOUT and SLAVE_NOT_AVAILABLE: stored by the master, not by its slave (client/producer/SendStatus).
with answers as (
  select case when upper(trim(s.outcome)) in ('SEND_OK', 'FLUSH_DISK_TIMEOUT', 'FLUSH_SLAVE_TIMEOUT', 'SLAVE_NOT_AVAILABLE') then upper(trim(s.outcome)) end
    as status, coalesce(c.cluster, '') as cluster, count(*) as sends
  from sends s left join file_clusters c on c.file = s.file group by 1, 2
), places as (
  select coalesce(c.cluster, '') as cluster, count(a.host) as named from acknowledged a left join file_clusters c on c.file = a.file group by 1
)
select a.status, a.cluster, a.sends, if(a.status = 'SEND_OK', coalesce(p.named, 0), 0) as named
from answers a left join places p on p.cluster = a.cluster order by a.status, a.cluster
