-- One row per known text and file for its first five entries, those without a time first: event, source, ts, file, line, message, trace.
-- At most five times as many rows as files hold different known texts.
with placed as (
  select event, source, ts, file, line, row_number() over (partition by event, file order by ts nulls first, line) as nth
  from events
), first as (
  select distinct event, source, ts, file, line from placed where nth <= 5
)
select f.event, f.source, f.ts, f.file, f.line, e.message, e.trace
from first f join entries e on f.file = e.file and f.line = e.line
order by f.event, f.ts nulls first, f.file, f.line
