-- One row per consumer group that a log names, and per size limit that a client printed (Validators.checkMessage): kind (group or limit), the first place.
-- Groups: their letters are those that Validators allows, so that a bracket behind one does not count.
with entries_naming as (
  select file, line, concat_ws('\n', coalesce(message, ''), trace) as text
  from all_entries
  where message like '%consumerGroup=%' or message like '%doRebalance, %' or message like '%sendMessageBack Exception, %'
    or message like '%[persistAll] Group: %' or message like '%message body size over max value, MAX: %'
    or trace like '%consumerGroup=%' or trace like '%doRebalance, %' or trace like '%sendMessageBack Exception, %'
    or trace like '%[persistAll] Group: %' or trace like '%message body size over max value, MAX: %'
), matched as (
  select file, line, text, explode(map(
    'group', regexp_extract(text,
      '(?:sendMessageBack Exception, |\\[persistAll\\] Group: |doRebalance, |consumerGroup=)[%|a-zA-Z0-9_-]{1,300}', 0),
    'limit', regexp_extract(text, 'the message body size over max value, MAX: [0-9]+', 0))) as (kind, match)
  from entries_naming
), placed as (
  select kind, regexp_extract(match, '([%|a-zA-Z0-9_-]+)$', 1) as value, file,
    line + length(head) - length(replace(head, '\n', '')) as line
  from (select *, substring_index(text, match, 1) as head from matched where match <> '') m
)
select kind, value, place.file as file, place.line as line from (select kind, value, min(struct(file, line)) as place from placed group by 1, 2)
order by kind, file, line, value limit 20000
