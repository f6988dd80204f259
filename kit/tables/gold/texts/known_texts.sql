-- One row per known text, file and source: event, file, source, n (entries), first, last (time), line (the smallest).
-- At most as many rows as files hold different known texts.
select event, file, source, count(*) as n, min(ts) as first, max(ts) as last, min(line) as line
from events group by event, file, source order by event, file, line
