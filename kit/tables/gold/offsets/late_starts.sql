-- One row per queue whose first pull is behind its beginning and that nothing explains; in a paste, or beside a queue of the same group that begins at 0. A
-- whole log begins with the start of its client; a few lines out of one do not. A group that an earlier copy of offsets has is none.
with firsts as (
  select *, row_number() over (partition by `group`, topic, broker, queue_id order by first nulls last, offset, file, line) as nth
  from offset_statements
  where event = 'pull-started' and `group` is not null and topic is not null and queue_id is not null and offset is not null
    and not startswith(topic, '%RETRY%')
), starts as (
  select *, min(offset) over (partition by `group`) = 0 as from_zero from firsts where nth = 1
), copied as (
  select `group`, topic, min(time) as time from known_positions where offset is not null group by `group`, topic
), clients as (
  select count(*) as clients from known_texts where event in ('client-started', 'client-created')
)
select s.`group`, s.topic, s.file, s.line
from starts s cross join clients left join copied c on c.`group` = s.`group` and c.topic = s.topic
where s.offset > 0 and (clients = 0 or s.source = 'text' or s.from_zero) and not coalesce(c.time <= s.first, false)
order by s.first nulls last, s.file, s.line
