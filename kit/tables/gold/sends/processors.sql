-- One row per measurement of how busy a host's processors were: file, line, ts, busy and waiting (for a disk; part of neither busy nor idle), in
-- percent. As many rows as `host_metrics` has for idle processors; in order of file and line.
with waits as (
  select file, line, max(value) as waiting from host_metrics where name in ('%iowait', 'wa') group by file, line
)
select i.file, i.line, i.ts, greatest(100 - i.value - coalesce(w.waiting, 0), 0) as busy, coalesce(w.waiting, 0) as waiting
from host_metrics i left join waits w on w.file = i.file and w.line = i.line
where i.name in ('%idle', 'id')
order by i.file, i.line, busy
