-- One row per commit log file whose records do not fill it from its first byte to its last. At most one row a file.
with runs as (
  select file, min(physical_offset) as begin, max(physical_offset + store_size) as end, sum(store_size) as bytes
  from stored_messages group by file
)
select f.file from files f left join runs r on f.file = r.file
where f.kind in ('commitlog', 'dledger')
  and (r.file is null or f.base is null or r.begin <> f.base or r.end - r.begin <> r.bytes or r.bytes <> f.bytes)
order by f.file
