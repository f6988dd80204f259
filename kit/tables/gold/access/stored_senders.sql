-- One row per broker and host whose clients' messages it stored: address (the store host), host (IP of the client's side); n, and the place of the first.
with by_file as (
  select store_host as address, regexp_replace(regexp_replace(born_host, ':[0-9]+$', ''), '[\\[\\]]', '') as host, file, count(*) as n,
    min(physical_offset) as physical_offset
  from originals where store_host is not null and born_host is not null group by 1, 2, 3
)
select address, host, n, file, physical_offset from (
  select address, host, file, physical_offset, sum(n) over (partition by address, host) as n,
    row_number() over (partition by address, host order by file) as nth from by_file
) where nth = 1 order by address, host limit 20000
