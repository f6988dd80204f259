-- One row per file and each of its first five entries that report a refused send-back, those without a time first. At most five a file.
with placed as (
  select event, source, ts, file, line, row_number() over (partition by file order by ts nulls first, line) as nth
  from events where event = 'send-back-exception'
), first as (
  select distinct event, source, ts, file, line from placed where nth <= 5
)
select f.event, f.source, f.ts, f.file, f.line, e.message, e.trace
from first f join entries e on f.file = e.file and f.line = e.line
order by f.ts nulls first, f.file, f.line
