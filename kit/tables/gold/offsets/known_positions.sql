-- One row per look at a consumer group's offset (the next to be handled) in a queue: source (copy, progress), end and begin (the queue's max and min offset
-- then), lag (from the queue's begin without an offset; null where an output prints an offset beyond the end), at_least (a copy was saved at its time or
-- any time later: end and lag are at least these). A file whose time copying lost has that of the records: what was handled had been stored before; behind
-- the end that an output prints nothing was stored yet (but a slave that takes over stores other records at offsets that its master had used); and no copy
-- of a broker's offsets is later than what was collected from it. A store's own consumerOffset.json is at most 60 s older than its last record: it is saved
-- every 5 s (flushConsumerOffsetInterval), and at the stop.
with queues as (
  select topic, broker, queue_id, min(begin) as first, max(`end`) as last from queue_growth group by topic, broker, queue_id
), copies as (
  select file, `group`, topic, broker, min(time) as time, min(line) as line, min(sure) as sure, min(own) as own, min(slave) as slave,
    min(collected) as collected
  from offset_looks where source = 'copy' group by file, `group`, topic, broker
), absent as (
  -- A copy that has no offset of a queue although its group consumes the topic: nobody pulled it yet.
  select c.time, 'copy' as source, c.file, c.line, c.`group`, c.topic, c.broker, q.queue_id, cast(null as bigint) as offset,
    cast(null as bigint) as reached, c.sure, c.own, c.slave, c.collected
  from copies c join queues q on q.topic = c.topic and q.broker = c.broker
  left anti join (select file, `group`, topic, broker, queue_id from offset_looks where source = 'copy') k
    on k.file = c.file and k.`group` = c.`group` and k.topic = c.topic and k.broker = c.broker and k.queue_id = q.queue_id
), looks as (
  select l.*, row_number() over (order by file, line, source, `group`, topic, broker, queue_id) as nth from (
    select time, source, file, line, `group`, topic, broker, queue_id, offset, `end` as reached, sure, own, slave, collected from offset_looks
    union all
    select time, source, file, line, `group`, topic, broker, queue_id, offset, reached, sure, own, slave, collected from absent
  ) l
), stored as (
  -- When the newest record that a look shows had been stored, and the first one that it does not show.
  select l.nth, min(case when coalesce(l.reached, l.offset, 0) > 0 then g.time end) as shown,
    min(case when g.`end` > coalesce(l.reached, l.offset, 0) and l.reached is not null and not l.slave then g.time end) as hidden
  from looks l join queue_growth g on g.topic = l.topic and g.broker = l.broker and g.queue_id = l.queue_id
  where g.`end` >= coalesce(l.reached, l.offset, 0)
  group by l.nth
), bounded as (
  select l.*, if(l.sure, l.time, null) as known, max(s.shown) over (partition by l.file) as lowest,
    timestamp_micros(unix_micros(min(s.hidden) over (partition by l.file)) + (p.step + 2) * 1000000) as highest
  from looks l left join stored s on s.nth = l.nth cross join (select coalesce(max(step), 1) as step from queue_curve) p
), judged as (
  select *, known is null or coalesce(unix_micros(known) < unix_micros(lowest) - 2000000, false)
    -- One damaged record may end a queue too early; a copied file is later than all that was collected as well.
    or coalesce(known > collected and (source = 'copy' or known > highest), false) as wrong
  from bounded
), dated as (
  select j.nth, j.source, j.file, j.line, j.`group`, j.topic, j.broker, j.queue_id, j.offset, j.reached, m.latest,
    if(j.wrong, j.lowest, j.known) as at, j.wrong and j.source = 'copy' as at_least,
    j.own and m.broker is not null and (if(j.wrong, j.lowest, j.known) is null or (j.wrong and j.source = 'copy')
      or coalesce(unix_micros(if(j.wrong, j.lowest, j.known)) >= unix_micros(m.latest) - 60000000, false)) as own
  from judged j left join (select broker, max(time) as latest from queue_growth group by broker) m on m.broker = j.broker
), placed as (
  select d.nth, d.source, d.file, d.line, d.`group`, d.topic, d.broker, d.queue_id, d.offset, d.reached, d.own, d.at_least and not d.own as at_least,
    if(d.own and (d.at is null or d.at_least) and d.latest is not null, d.latest, d.at) as time, q.first, q.last, d.latest
  from dated d left join queues q on q.topic = d.topic and q.broker = d.broker and q.queue_id = d.queue_id
), before as (
  select p.nth, max(g.`end`) as `end` from placed p
  join queue_growth g on g.topic = p.topic and g.broker = p.broker and g.queue_id = p.queue_id
  where g.time < p.time and p.reached is null
  group by p.nth
), ended as (
  select p.nth, p.time, p.source, p.file, p.line, p.`group`, p.topic, p.broker, p.queue_id, p.offset, p.first as begin, p.at_least, p.last,
    case when p.own and p.last is not null then p.last when p.reached is not null then p.reached
      when p.source = 'copy' and p.time is not null and p.latest is not null then coalesce(b.`end`, p.first) end as reached,
    -- All records of a topic's queues were handled: no time of theirs makes the lag more.
    min(if(p.at_least and p.offset >= p.last, 1, 0)) over (partition by p.file, p.`group`, p.topic, p.broker) = 1 as done
  from placed p left join before b on b.nth = p.nth
)
select time, source, file, line, `group`, topic, broker, queue_id, offset, if(done, last, reached) as `end`, begin,
  if(if(done, last, reached) is null or (source = 'progress' and offset > reached + 10), null, greatest(if(done, last, reached) - coalesce(offset, begin, 0), 0)) as lag, at_least and not done as at_least
from ended
order by time nulls first, `end` nulls first, file, `group`, topic, broker, queue_id, line, nth
