-- One row per queue of a users' consumer group whose end is known at some look (copies of consumerOffset.json, consumerProgress): of the looks that have an
-- exact lag (all null without one) first_…, last_…, begin, peak (the largest lag), since_peak (messages that came after it), looks (different times, or
-- ends, or outputs one below the other in one file, at least 1), seconds (from first to last, 0 where not known), arrived, advanced (messages), grew
-- (whether the lag did, by more than is under way, and than a twentieth of what arrived: a group that keeps up is never exactly at the end), never_handled
-- (no offset, or the first of the queue), beyond (an output prints an offset beyond the end: what waits is not known); stand_… of the longest time of at
-- least 5 s (15 s up to a copy), or of unknown length, in which its offset stayed at a waiting message while more came (null if there is none), and others:
-- the queues of the topic that handled meanwhile what waited in them when it began. Clients save their offsets every 5 s (persistConsumerOffsetInterval),
-- and brokers the file as often (flushConsumerOffsetInterval).
-- Looks of one time, and those at a queue of which not two have a time, are in the order of the ends, which only grow: of the queue, then of the topic.
-- Times of files against which an end falls are not those of the outputs in them.
with known as (
  select `group`, topic, coalesce(broker, '') as broker, queue_id, time, offset, `end` as reached, begin, lag as waiting, at_least, file, line, source,
    count(time) over (partition by `group`, topic, broker, queue_id) as times,
    time is not null and source = 'progress' and coalesce(max(if(time is not null and source = 'progress', `end`, null)) over (
      partition by `group`, topic, broker, queue_id order by time, `end` rows between unbounded preceding and 1 preceding) > `end`, false) as falls
  from known_positions
  where `end` is not null and queue_id is not null
), ends as (
  select `group`, topic, broker, queue_id, if(max(falls) over (partition by `group`, topic), null, time) as time, offset, reached, begin, waiting,
    at_least, file, line, source, row_number() over (partition by `group`, topic, broker, queue_id, file order by line) as output
  from known where time is not null or times < 2
), together as (
  select *, sum(reached) over (partition by `group`, topic, file, output) as topic_end,
    count(*) over (partition by `group`, topic, broker, queue_id) = count(time) over (partition by `group`, topic, broker, queue_id) as dated
  from ends
), looks as (
  select *, row_number() over (partition by `group`, topic, broker, queue_id
    order by if(dated, time, null), reached, topic_end, file, line nulls first) as nth
  from together
), timed as (
  select *, count(case when source = 'progress' then 1 end) over (partition by `group`, topic, broker, queue_id, file, time) as outputs
  from looks where not at_least and waiting is not null
), courses as (
  select `group`, topic, broker, queue_id, max(waiting) as peak, max_by(reached, waiting * cast(1000000 as double) + nth) as peak_end, greatest(count(distinct time), max(outputs), count(distinct reached)) as times,
    min_by(offset, nth) as first_offset, min_by(reached, nth) as first_end, min_by(waiting, nth) as first_lag, min_by(time, nth) as first,
    min_by(begin, nth) as begin, max_by(offset, nth) as last_offset, max_by(reached, nth) as last_end, max_by(waiting, nth) as last_lag,
    max_by(time, nth) as last
  from timed group by `group`, topic, broker, queue_id
), steps as (
  select *, lag(offset) over earlier as offset_before, lag(reached) over earlier as reached_before, lag(waiting) over earlier as waiting_before
  from looks window earlier as (partition by `group`, topic, broker, queue_id order by nth)
), runs as (
  select *, sum(if(coalesce(offset, 0) = coalesce(offset_before, 0) and reached >= reached_before and waiting_before > 0, 0, 1)) over (
    partition by `group`, topic, broker, queue_id order by nth rows between unbounded preceding and current row) as run
  from steps
), stays as (
  select `group`, topic, broker, queue_id, coalesce(max(offset), 0) as stand_offset, coalesce(max(begin), 0) as stand_begin, min(reached) as reached_first,
    max(reached) as stand_end, min(time) as stand_first, max(time) as stand_last,
    max(if(source = 'copy', time, null)) as copied, collect_set(concat(output, file)) as outputs, count(*) - count(time) as undated
  from runs group by `group`, topic, broker, queue_id, run
), stands as (
  select *, row_number() over (partition by `group`, topic, broker, queue_id
    order by unix_micros(stand_last) - unix_micros(stand_first) desc nulls last, stand_first nulls last, stand_end desc) as nth
  from stays
  where stand_end > reached_first and (undated > 0 or stand_last = stand_first
    or unix_micros(stand_last) - unix_micros(stand_first) >= if(copied <=> stand_last, 15000000, 5000000))
), spans as (
  select s.`group`, s.topic, s.broker, s.queue_id, count(*) as n, min_by(o.reached, o.nth) as waited, min_by(o.offset, o.nth) as came_from,
    max_by(o.offset, o.nth) as got_to
  from stands s join looks o on o.`group` = s.`group` and o.topic = s.topic
    and ((s.stand_first < s.stand_last and o.time between s.stand_first and s.stand_last) or array_contains(s.outputs, concat(o.output, o.file)))
  where s.nth = 1 and (o.broker <> s.broker or o.queue_id <> s.queue_id)
  group by s.`group`, s.topic, s.broker, s.queue_id, o.broker, o.queue_id
), passed as (
  select `group`, topic, broker, queue_id, count(*) as others from spans
  where n > 1 and waited <= got_to and got_to > coalesce(came_from, 0)
  group by `group`, topic, broker, queue_id
), queues as (
  select `group`, topic, broker, queue_id, max(source = 'progress' and waiting is null) as beyond from looks group by `group`, topic, broker, queue_id
)
select q.`group`, q.topic, q.broker, q.queue_id, c.first_offset, c.first_end, c.first_lag, c.last_offset, c.last_end, c.last_lag, c.begin, c.peak, c.last_end - c.peak_end as since_peak,
  c.first, c.last, greatest(c.times, 1) as looks, coalesce(cast(unix_micros(c.last) - unix_micros(c.first) as double) / 1000000, cast(0 as double)) as seconds,
  c.last_end - c.first_end as arrived, coalesce(c.last_offset, 0) - coalesce(c.first_offset, 0) as advanced,
  c.times > 1 and c.last_lag - c.first_lag >= greatest(10, 0.05 * (c.last_end - c.first_end)) as grew,
  c.last_offset is null or c.last_offset = 0 or coalesce(c.last_offset = c.begin, false) as never_handled, q.beyond, s.nth is not null as stands, s.stand_offset, s.stand_begin, s.stand_end, s.stand_first, s.stand_last,
  coalesce(p.others, 0) as others
from queues q
left join courses c on c.`group` = q.`group` and c.topic = q.topic and c.broker = q.broker and c.queue_id = q.queue_id
left join stands s on s.`group` = q.`group` and s.topic = q.topic and s.broker = q.broker and s.queue_id = q.queue_id and s.nth = 1
left join passed p on p.`group` = q.`group` and p.topic = q.topic and p.broker = q.broker and p.queue_id = q.queue_id
order by q.`group`, q.topic, q.broker, q.queue_id
