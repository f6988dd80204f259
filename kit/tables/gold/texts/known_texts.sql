-- One row per known text, file and source: n (entries), line (the smallest). A failed connect to an address given as a name server's is told as that.
with texts as (
  select event, file, source, line, ts from events
  union all
  select 'problem:namesrv-unreachable' as event, e.file, e.source, e.line, e.ts from events e
  join reach_addresses a on a.kind = 'name server' and not endswith(a.address, ':9876') and a.address = e.value_address
  where e.event = 'client-connect-failed'
)
select event, file, source, count(*) as n, min(ts) as first, max(ts) as last, min(line) as line
from texts group by event, file, source order by event, file, line
