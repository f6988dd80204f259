-- One row per moved queue (`offset_moves`): kind, group, topic, broker, queue_id, start (where the group stood: by what its ledgers show
-- handled, where no line says it exactly), end, exact, skipped, repeated (messages between the two, null without a start), counted (the ledgers
-- tell what the group handled of the topic), handled_again (messages from `end` on, in front of an exact start, that they have more than once),
-- still_stored (of a first start's skipped messages), at, asked, file, line. As many rows as `offset_moves`, in its order.
with pairs as (
  select distinct `group`, topic from offset_moves where kind in ('reset', 'beyond-end', 'skip')
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
    sum(case when h.times > 1 and h.queue_offset >= m.`end` and (not m.exact or h.queue_offset < m.start) then 1 else 0 end) as handled_again
  from offset_moves m join handled h on m.`group` = h.`group` and m.topic = h.topic and m.queue_id = h.queue_id
  group by m.number
), stored as (
  select r.topic, r.queue_id, min(r.queue_offset) as first
  from records r join (select distinct topic from offset_moves where kind = 'first-start') m on r.topic = m.topic
  group by r.topic, r.queue_id
), placed as (
  select m.number, m.kind, m.`group`, m.topic, m.broker, m.queue_id, m.`end`, m.at, m.asked, m.file, m.line, m.start as start_before,
    case when m.exact then null when m.kind in ('reset', 'beyond-end') then n.repeated_last + 1 when m.kind = 'skip' then n.handled_before + 1 end as start_handled,
    m.exact, k.topic is not null as counted, coalesce(n.handled_again, 0) as handled_again, s.first
  from offset_moves m
    left join known k on m.`group` = k.`group` and m.topic = k.topic
    left join ranges n on m.number = n.number
    left join stored s on m.topic = s.topic and m.queue_id = s.queue_id
), moved as (
  select *, coalesce(start_handled, start_before) as start from placed
)
select number, kind, `group`, topic, broker, queue_id, start, `end`, exact or start_handled is not null as exact,
  if(`end` - start is null, null, greatest(0, `end` - start)) as skipped, if(`end` - start is null, null, greatest(0, start - `end`)) as repeated,
  counted, handled_again, case when kind = 'first-start' and first is not null then greatest(0, `end` - greatest(first, coalesce(start, 0))) else 0 end
    as still_stored, at, asked, file, line
from moved order by number
