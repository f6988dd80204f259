-- One row per queue in which a new consumer group handled nothing in front of its first handled message, although messages without a filter
-- waited there: group, topic, broker, queue_id, offset (of the first handled), waiting (stored in front of it before the group was created), first (when
-- it was created), file, line (of the delivery); and one per queue that it began with its very first message (offset and waiting 0). Only groups whose first pulls no client log prints (5.0.0 and later print none), and queues whose
-- last known offset has passed that message: what is only being handled is not. As many rows as such queues.
with born as (
  select `group`, min(first) as born from offset_statements where event = 'group-created' and `group` is not null group by `group`
), silent as (
  select b.`group`, b.born from born b
    left anti join (select distinct `group` from offset_statements where event = 'pull-started') p on b.`group` = p.`group`
), subscribed as (
  select distinct s.`group`, s.born, e.value_data as data
  from silent s join events e on e.event = 'consumer-registered' and e.value_group = s.`group`
), passed as (
  select distinct s.`group`, s.born, o.topic, o.broker, o.only, o.queue_id, o.offset
  from subscribed s join passed_offsets o on o.`group` = s.`group`
  where not startswith(o.topic, '%RETRY%') and contains(s.data, concat('topic=', o.topic, ', subString=*,'))
), handled as (
  select d.`group`, r.topic, r.broker, r.queue_id, r.queue_offset, d.file, d.line,
    row_number() over (partition by d.`group`, r.topic, r.broker, r.queue_id order by r.queue_offset, d.file, d.line) as nth
  from group_deliveries d join placed_records r on r.id = xxhash64(d.uniq_key)
), begun as (
  select p.`group`, p.topic, p.broker, h.broker as stored_by, p.queue_id, p.born, h.queue_offset, h.file, h.line
  from passed p join handled h on h.`group` = p.`group` and h.topic = p.topic and h.queue_id = p.queue_id
    and (h.broker = p.broker or (p.only and h.broker is null))
  where h.nth = 1 and p.offset >= h.queue_offset
)
select b.`group`, b.topic, b.broker, b.queue_id, b.queue_offset as offset, count(r.id) as waiting, b.born as first, b.file, b.line
from begun b left join placed_records r on r.topic = b.topic and r.queue_id = b.queue_id and r.broker <=> b.stored_by
  and r.queue_offset < b.queue_offset and r.store_timestamp < b.born
group by b.`group`, b.topic, b.broker, b.queue_id, b.queue_offset, b.born, b.file, b.line
having count(r.id) > 0 or b.queue_offset = 0
order by b.`group`, b.topic, b.broker, b.queue_id
