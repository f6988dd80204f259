-- One row per moved queue (`offset_moves`): start (where the group stood: by what its ledgers show handled, where no line says it exactly), end, exact,
-- skipped, repeated (messages between the two, null without a start), counted (the ledgers tell what the group handled of the topic), handled_again
-- (messages from `end` on, in front of an exact start, that they have more than once), still_stored (of a first start's skipped messages).
with pairs as (
  select distinct `group`, topic from offset_moves where kind in ('reset', 'beyond-end', 'skip')
), delivered as (
  select d.`group`, p.topic, d.offset_msg_id, count(*) as times
  from group_deliveries d join pairs p on d.`group` = p.`group`
  where d.offset_msg_id is not null
  group by d.`group`, p.topic, d.offset_msg_id
), handled as (
  select d.`group`, d.topic, r.broker, r.queue_id, r.queue_offset, sum(d.times) as times
  from placed_records r join delivered d on r.offset_msg_id = d.offset_msg_id and r.topic = d.topic
  group by d.`group`, d.topic, r.broker, r.queue_id, r.queue_offset
), stores as (
  select count(distinct root) as n from file_brokers
), known as (
  -- A move that names no broker is of the only one, if there is one.
  select distinct m.number from offset_moves m join handled h on m.`group` = h.`group` and m.topic = h.topic cross join stores s
  where h.broker is null or h.broker = m.broker or (coalesce(m.broker, '') = '' and s.n < 2)
), ranges as (
  select m.number, max(case when h.queue_offset < m.`end` then h.queue_offset end) as handled_before,
    max(case when h.times > 1 and h.queue_offset >= m.`end` then h.queue_offset end) as repeated_last,
    sum(case when h.times > 1 and h.queue_offset >= m.`end` and (not m.exact or h.queue_offset < m.start) then 1 else 0 end) as handled_again
  from offset_moves m join handled h on m.`group` = h.`group` and m.topic = h.topic and m.queue_id = h.queue_id
    join known k on k.number = m.number
  where h.broker is null or coalesce(m.broker, '') in ('', h.broker)
  group by m.number
), starts as (
  select r.topic, r.broker, r.queue_id, min(r.queue_offset) as first
  from placed_records r left semi join (select topic from offset_moves where kind = 'first-start') m on r.topic = m.topic
  group by r.topic, r.broker, r.queue_id
), stored as (
  select m.number, min(r.first) as first
  from starts r join offset_moves m on r.topic = m.topic and r.queue_id = m.queue_id cross join stores s
  where m.kind = 'first-start' and (r.broker is null or r.broker = m.broker or (coalesce(m.broker, '') = '' and s.n < 2))
  group by m.number
), placed as (
  select m.number, m.kind, m.`group`, m.topic, m.broker, m.queue_id, m.`end`, m.at, m.asked, m.file, m.line, m.physical_offset, m.start as start_before,
    case when m.exact then null when m.kind in ('reset', 'beyond-end') then n.repeated_last + 1 when m.kind = 'skip' then n.handled_before + 1 end as start_handled,
    m.exact, k.number is not null as counted, coalesce(n.handled_again, 0) as handled_again, s.first
  from offset_moves m
    left join known k on m.number = k.number
    left join ranges n on m.number = n.number
    left join stored s on m.number = s.number
), moved as (
  select *, coalesce(start_handled, start_before) as start from placed
)
select number, kind, `group`, topic, broker, queue_id, start, `end`, exact or start_handled is not null as exact,
  if(`end` - start is null, null, greatest(0, `end` - start)) as skipped, if(`end` - start is null, null, greatest(0, start - `end`)) as repeated,
  counted, handled_again, case when kind = 'first-start' and first is not null then greatest(0, `end` - greatest(first, coalesce(start, 0))) else 0 end
    as still_stored, at, asked, file, line, physical_offset
from moved order by number
