-- One row per queue of a group in which a later copy or consumerProgress output shows a smaller offset, where all queues of the topic went back or 10
-- messages and more: topic, queues, messages (of all of them), file, line (of the later look). As many rows as queues. Two outputs in one file came one
-- after the other; of two files only their times say so (not one that can be any later: `at_least`), and the ends of the queues, which only grow, agree.
with looks as (
  select *, row_number() over (partition by `group`, topic, broker, queue_id order by time nulls first, file, line) as nth
  from known_positions where offset is not null and `end` is not null
), steps as (
  select a.`group`, a.topic, a.broker, a.queue_id, b.offset - a.offset as messages, a.file, a.line,
    row_number() over (partition by a.`group`, a.topic, a.broker, a.queue_id order by a.nth desc) as from_last
  from looks a join looks b on a.`group` = b.`group` and a.topic = b.topic and a.broker = b.broker and a.queue_id = b.queue_id and a.nth = b.nth + 1
  where a.offset < b.offset
    and ((a.file = b.file and a.`end` >= b.`end`) or (a.file <> b.file and a.time > b.time and not coalesce(b.at_least, false) and a.`end` > b.`end`))
), queues as (
  select `group`, topic, count(*) as every from looks where nth = 1 group by `group`, topic
), back as (
  select *, count(*) over (partition by `group`, topic) as queues, sum(messages) over (partition by `group`, topic) as together
  from steps where from_last = 1
)
select b.`group`, b.topic, b.queues, b.together as messages, b.file, b.line
from back b join queues q on b.`group` = q.`group` and b.topic = q.topic
where b.together >= 10 or b.queues = q.every
order by b.together desc, b.`group`, b.topic, b.broker, b.queue_id
