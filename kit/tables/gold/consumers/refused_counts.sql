-- One row per kind of refusal (busy, or late: a client's time-out), file, source and whether it is about a pull (`refused_requests`): n (entries).
with named as (
  select file, source, line, ts, pull,
    explode(case when busy and late then array('busy', 'late') when busy then array('busy') else array('late') end) as kind
  from refused_requests
)
select kind, file, source, pull, count(*) as n, min(line) as line, min(ts) as first, max(ts) as last
from named
group by kind, file, source, pull
order by kind, file, source, pull
