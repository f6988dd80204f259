-- A row a log entry: where it is, when, what it names: topic, group (one that records have, else what is called so) and host.
-- Patterns are in ASCII and without a number of repetitions: engines bound their size.
-- Times outside these years are damage: they would squeeze the timeline into one bar.
select file, line, case when ts between timestamp'1971-01-01' and timestamp'2262-01-01' then ts end as ts, level, source, thread, array_join(events, '|') as events,
  coalesce(nullif(regexp_extract(text, :topics, 1), ''), nullif(regexp_extract(text, r'(?i)\btopic(?:name)?["\x27]?\s*[=:]\s*[\["\x27]?([-%|A-Za-z0-9_]+)', 1), '')) as topic,
  coalesce(nullif(regexp_extract(text, :groups, 1), ''), nullif(regexp_extract(text, r'(?i)\b(?:consumer|producer)?group(?:name)?["\x27]?\s*[=:]\s*[\["\x27]?([-%|A-Za-z0-9_]+)', 1), '')) as `group`,
  nullif(regexp_extract(message, r'\b([0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3})\b', 1), '') as host, substring(message, 1, 500) as message
from (select *, concat_ws(' ', message, trace) as text from entries)
