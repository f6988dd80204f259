-- One row per moved queue (`offset_moves`), with what the ledgers of its group and the records show: the columns of that table; counted (the
-- ledgers tell what the group handled of the topic), handled_before (the last queue offset in front of `end` that was handled), repeated_last
-- (the last one from `end` on that was handled more than once), repeated (messages from `end` on, in front of an exact `start`, handled more
-- than once), first_stored (the first queue offset in the store; null without records). As many rows as `offset_moves`.
with pairs as (
  select distinct `group`, topic from offset_moves where kind in ('reset', 'skip')
), delivered as (
  select d.`group`, p.topic, d.offset_msg_id, count(*) as times
  from group_deliveries d join pairs p on d.`group` = p.`group`
  where d.offset_msg_id is not null
  group by d.`group`, p.topic, d.offset_msg_id
), handled as (
  select d.`group`, d.topic, r.queue_id, r.queue_offset, sum(d.times) as times
  from records r join delivered d on r.offset_msg_id = d.offset_msg_id and r.topic = d.topic
  group by d.`group`, d.topic, r.queue_id, r.queue_offset
), known as (
  select distinct `group`, topic from handled
), ranges as (
  select m.number, max(case when h.queue_offset < m.`end` then h.queue_offset end) as handled_before,
    max(case when h.times > 1 and h.queue_offset >= m.`end` then h.queue_offset end) as repeated_last,
    sum(case when h.times > 1 and h.queue_offset >= m.`end` and (not m.exact or h.queue_offset < m.start) then 1 else 0 end) as repeated
  from offset_moves m join handled h on m.`group` = h.`group` and m.topic = h.topic and m.queue_id = h.queue_id
  group by m.number
), stored as (
  select r.topic, r.queue_id, min(r.queue_offset) as low
  from records r join (select distinct topic from offset_moves where kind = 'first-start') m on r.topic = m.topic
  group by r.topic, r.queue_id
)
select m.*, k.topic is not null as counted, n.handled_before, n.repeated_last, coalesce(n.repeated, 0) as repeated, s.low as first_stored
from offset_moves m
  left join known k on m.`group` = k.`group` and m.topic = k.topic
  left join ranges n on m.number = n.number
  left join stored s on m.topic = s.topic and m.queue_id = s.queue_id
order by m.number
