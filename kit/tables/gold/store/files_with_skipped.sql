-- One row per commit log file whose records do not fill it from its first byte to its last: file, start (byte from which on something may be skipped:
-- where the last record begins, if all before touch; else 0). At most one row a file.
with runs as (
  select file, min(physical_offset) as begin, max(physical_offset) as last, max(physical_offset + store_size) as end, sum(store_size) as bytes
  from stored_messages group by file
)
select f.file, if(coalesce(r.begin = f.base and r.end - r.begin = r.bytes, false), r.last - f.base, 0) as start
from files f left join runs r on f.file = r.file
where f.kind in ('commitlog', 'dledger')
  and (r.file is null or f.base is null or r.begin <> f.base or r.end - r.begin <> r.bytes or r.bytes <> f.bytes)
order by f.file
