-- A row a log entry: where it is, when, what it names: topic, group and host.
-- Times outside these years are damage: they would squeeze the timeline into one bar.
select file, line, case when ts between timestamp'1971-01-01' and timestamp'2262-01-01' then ts end as ts, level, source, thread, array_join(events, '|') as events,
  coalesce(nullif(regexp_extract(text, :topics, 1), ''), nullif(regexp_extract(text, :topic, 1), '')) as topic,
  coalesce(nullif(regexp_extract(text, :groups, 1), ''), nullif(regexp_extract(text, :group, 1), '')) as `group`,
  nullif(regexp_extract(message, :address, 1), '') as host, substring(message, 1, 500) as message
from (select *, concat_ws(' ', message, trace) as text from entries)
