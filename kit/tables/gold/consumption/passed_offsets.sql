-- One row per consumer group whose ledgers are all there, topic and queue: group, topic, queue_id, offset (the last known, null if none is).
-- Only topics of one broker: of several, a record does not say which one's offset it lies behind. As many rows as queues of such groups.
with looks as (
  select p.`group`, p.topic, p.queue_id, p.offset, row_number() over (
      partition by p.`group`, p.topic, p.broker, p.queue_id order by p.time desc nulls last, p.file desc, p.line desc nulls last) as nth,
    min(p.broker) over (partition by p.`group`, p.topic) = max(p.broker) over (partition by p.`group`, p.topic) as of_one_broker
  from known_positions p left semi join group_ledgers g on p.`group` = g.`group`
)
select `group`, topic, queue_id, offset from looks where nth = 1 and of_one_broker order by `group`, topic, queue_id
