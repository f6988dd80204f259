-- The time of the log entry around each of some lines (file, line): a quoted line may be a continuation line. `places`: file\u0001line, joined by \u0002.
with wanted as (
  select split(place, '\\u0001')[0] as file, cast(split(place, '\\u0001')[1] as int) as line
  from (select explode(split(:places, '\\u0002')) as place) p
)
select w.file, w.line, min(e.ts) as at
from wanted w join all_entries e on w.file = e.file and w.line between e.line and e.line + e.lines - 1
where e.ts is not null
group by w.file, w.line
