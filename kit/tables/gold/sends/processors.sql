-- One row per measurement of how busy a host's processors were: busy and waiting (for a disk; part of neither busy nor idle), in percent.
with waits as (
  select file, line, max(value) as waiting from host_metrics where name in ('%iowait', 'wa') group by file, line
)
select i.file, i.line, i.ts, greatest(100 - i.value - coalesce(w.waiting, 0), 0) as busy, coalesce(w.waiting, 0) as waiting
from host_metrics i left join waits w on w.file = i.file and w.line = i.line
where i.name in ('%idle', 'id')
order by i.file, i.line, busy
