-- One row per known text, file and source. A failed connect is told as that of a name server where its address was given as one, or its frames ask one.
with texts as (
  select event, file, source, line, ts as first, ts as last, 1 as n from events
  union all
  select 'problem:namesrv-unreachable' as event, r.file, r.source, r.failed_line as line, r.first, r.last, r.failed as n
  from reach_statements r left join reach_addresses a on a.kind = 'name server' and a.address = r.address
  left join (select distinct file, line from events where event = 'problem:namesrv-unreachable') p on p.file = r.file and p.line = r.failed_line
  where r.event = 'connect' and r.failed > 0 and (r.name_server or a.address is not null) and not endswith(r.address, ':9876') and p.file is null
)
select event, file, source, sum(n) as n, min(first) as first, max(last) as last, min(line) as line
from texts group by event, file, source order by event, file, line
