-- One row per thread, logger and second in which a client or an application reported a send refused for its size: attempt (the client's own line of a
-- failed attempt). Refusals of topics that are too long (more than 127 characters up to 4.6.0), which have the same words, are left out. client/Validators.
with refused as (
  select event, file, line, min(ts) as ts, min(thread) as thread, min(logger) as logger
  from events where event in ('message-illegal', 'client-body-too-large') group by event, file, line
), attempts as (
  select e.file, e.line, max(e.value_topic) as topic from events e where e.event = 'send-attempt-failed' group by e.file, e.line
), entries_once as (
  select r.*, a.line is not null as attempt, date_trunc('SECOND', r.ts) as second
  from refused r left join attempts a on r.file = a.file and r.line = a.line
  where a.topic is null or length(a.topic) <= 127
)
select event, attempt, file, thread, logger, count(*) as count, min(line) as line, min(ts) as first, max(ts) as last
from entries_once group by event, attempt, file, thread, logger, second
order by event, file, line limit 200000
