-- One row per commit log file that its records do not fill: start (byte from which on something may be skipped: the last record, if all before touch).
with runs as (
  select file, min(physical_offset) as begin, max(physical_offset) as last, max(physical_offset + store_size) as end, sum(store_size) as bytes
  from stored_messages group by file
)
select f.file, if(coalesce(r.begin = f.base and r.end - r.begin = r.bytes, false), r.last - f.base, 0) as start
from files f left join runs r on f.file = r.file
where f.kind in ('commitlog', 'dledger')
  and (r.file is null or f.base is null or r.begin <> f.base or r.end - r.begin <> r.bytes or r.bytes <> f.bytes)
order by f.file
