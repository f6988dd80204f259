-- One row per measurement of a broker's host that explains a slow broker: origin (the tool), subject (device, mount point), value (percent, kB/s; ms of a
-- garbage collection, those of 200 ms and more). Averages since boot are left out (the first screen of iostat and vmstat), so are single processors.
with numbered as (
  select file, line, ts, origin, subject, name, value,
    row_number() over (partition by file, subject, name order by line) as nth
  from metrics where name in ('%idle', 'id', '%iowait', 'wa', '%util', 'wkB/s', 'use%', 'pause_ms', 'stopped_ms')
)
select file, line, ts, origin, subject, name, value from numbered
where value between -1e300 and 1e300
  and (name not in ('pause_ms', 'stopped_ms') or value >= 200)
  and not (name in ('%idle', '%iowait') and coalesce(subject, '') rlike '^[0-9]+$')
  and not (nth = 1 and coalesce(origin, '') in ('iostat', 'vmstat'))
order by file, line, name, subject, value limit 200000
