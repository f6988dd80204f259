-- One row per queue of a group whose ledgers are all there: offset (the last known; of looks of unknown times the largest), only (no other broker's is).
with looks as (
  select p.`group`, p.topic, p.broker, p.queue_id, p.offset, row_number() over (
      partition by p.`group`, p.topic, p.broker, p.queue_id
      order by p.time desc nulls last, p.`end` desc nulls last, p.offset desc nulls last, p.file desc, p.line desc nulls last) as nth,
    min(p.broker) over (partition by p.`group`, p.topic) = max(p.broker) over (partition by p.`group`, p.topic) as only
  from known_positions p left semi join group_ledgers g on p.`group` = g.`group`
)
select `group`, topic, broker, queue_id, offset, only from looks where nth = 1 order by `group`, topic, broker, queue_id
