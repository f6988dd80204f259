-- One row per queue of a consumer group whose offset moved by more than was consumed: number (0 …), kind, group, topic, broker, queue_id (null if only
-- the broker's lines show it, which do not name the queue), start (the offset that the group had reached, null if unknown), end (where it continued),
-- exact (start is what it had handled), at, asked (when a reset was requested), file, line (where it shows). In order of kind, group, topic, broker and
-- queue; the last one if a queue moved several times. At most 200,000.
-- Four kinds: deleted-before-consumed (PullMessageProcessor, OFFSET_TOO_SMALL), reset and skip (back and ahead: AdminBrokerProcessor.resetOffset, or at
-- the next pull with useServerSideResetOffset), first-start (a new group began at the end of its queues: CONSUME_FROM_LAST_OFFSET,
-- ConsumerManageProcessor.queryConsumerOffset). What was deleted before a group existed is no loss: one that asks for offset 0 is new, or may be, within
-- 60 s of its creation (the first rebalance comes within 20 s); without a line about that where neither broker.log nor a copy of offsets is there.
with ordered as (
  select *, row_number() over (order by first nulls last, file, line, event) as nth, unix_micros(first) as micros from offset_statements
), born as (
  select `group`, unix_micros(min(first)) as born from offset_statements where event = 'group-created' and `group` <> '' group by `group`
), looks as (
  select * from known_positions where offset is not null
), consumed as (
  select distinct `group`, topic from looks
), logs as (
  select count(*) as brokers from files where source = 'broker'
), judged as (
  select o.*, b.born, coalesce(o.offset < o.next and o.next = o.min_offset, false) as small,
    coalesce(if(b.born is null, l.brokers = 0 and c.topic is null, abs(o.micros - b.born) < 60000000), false) as may_be_new
  from ordered o cross join logs l left join born b on b.`group` = o.`group`
    left join consumed c on c.`group` = o.`group` and c.topic = o.topic
), illegal as (
  select * from judged where event = 'pull-offset-illegal'
), by_client as (
  select * from illegal where small and not (offset = 0 and may_be_new)
), corrected as (
  -- The broker's own lines: corrections that it printed the reason of, or the reasons alone.
  select j.* from (
    select *, if(event = 'offset-corrected', next, min_offset) as least, count_if(event = 'offset-corrected') over () as corrections
    from judged where event in ('offset-corrected', 'offset-too-small')
  ) j
    left semi join (select * from ordered where event = 'offset-too-small') r
      on r.`group` = j.`group` and r.topic = j.topic and r.requested = j.requested and r.min_offset = j.least
    left anti join by_client c on c.`group` = j.`group` and c.topic = j.topic
  where (j.event = 'offset-corrected' or j.corrections = 0) and not (j.requested = 0 and j.may_be_new)
), printed as (
  select topic, queue_id, max_by(min_offset, nth) as begin from ordered where event = 'queue-min-offset' group by topic, queue_id
), listed as (
  select topic, queue_id, max(min_offset) as begin from admin_queues where min_offset is not null group by topic, queue_id
), begins as (
  select coalesce(l.topic, p.topic) as topic, coalesce(l.queue_id, p.queue_id) as queue_id, coalesce(l.begin, p.begin) as begin
  from printed p full join listed l on l.topic = p.topic and l.queue_id = p.queue_id
), candidates as (
  -- The broker names no queue: one that began there while the group was at the offset.
  select c.nth, l.queue_id, row_number() over (partition by c.nth order by l.queue_id) as place
  from corrected c join looks l on l.`group` = c.`group` and l.topic = c.topic and l.offset = c.requested
    join begins b on b.topic = c.topic and b.queue_id = l.queue_id and b.begin = c.least
  group by c.nth, l.queue_id
), by_broker as (
  select c.*, n.queue_id as moved from corrected c join candidates n on n.nth = c.nth and n.place <= c.n
  union all
  select m.*, cast(null as bigint) as moved from (select c.* from corrected c left anti join candidates n on n.nth = c.nth) m
    join (select nth as of, explode(sequence(1, n)) as time from corrected) t on t.of = m.nth
), asked_lines as (
  select file, max(struct(nth, `group`, topic, timestamp)) as asked from ordered where event = 'offset-reset-command' group by file
), commands as (
  select coalesce(nullif(a.`group`, ''), l.asked.`group`) as `group`, coalesce(nullif(a.topic, ''), l.asked.topic) as topic, a.broker, a.queue_id, a.offset,
    a.reset_to, a.file, a.line, l.asked.timestamp as timestamp, row_number() over (order by a.file, a.line) as nth
  from admin_queues a left join asked_lines l on l.file = a.file
  where a.reset_to is not null and a.broker <> ''
), asked as (
  select `group`, topic, min(at) as at, min(case when timestamp is not null then struct(part, nth, timestamp) end).timestamp as timestamp
  from (
    select `group`, topic, first as at, timestamp, 0 as part, nth from ordered
    where event in ('offset-reset-started', 'offset-reset-done', 'offset-reset-client', 'offset-reset-command')
    union all
    select `group`, topic, null as at, timestamp, 1 as part, nth from commands
  ) each where `group` <> '' and topic <> '' group by `group`, topic
), near as (
  -- From a reset to the first commit of the new offset: the client sleeps 10 s and commits every 5 s.
  select j.* from judged j join asked a on a.`group` = j.`group` and a.topic = j.topic
  where j.queue_id is not null and j.event in ('pull-started', 'pull-offset-illegal', 'consumer-offset-back')
    and (a.at is null or j.micros is null or j.micros between unix_micros(a.at) - 2000000 and unix_micros(a.at) + 120000000)
), sources as (
  select `group`, topic, broker, queue_id, cast(null as bigint) as start, offset as `end`, false as exact, first as at, file, line, 1 as part, -nth as place
  from near where event = 'pull-started' and offset is not null
  union all
  select `group`, topic, broker, queue_id, offset as start, reset_to as `end`, offset is not null as exact, null as at, file, line, 2 as part, nth as place
  from commands where `group` <> '' and topic <> ''
  union all
  select `group`, topic, broker, queue_id, offset as start, next as `end`, false as exact, first as at, file, line, 3 as part, nth as place
  from near where event = 'pull-offset-illegal' and not small and next is not null
), best as (
  select * from (select *, row_number() over (partition by `group`, topic, queue_id order by part desc, place desc) as nth from sources) s where nth = 1
), commits as (
  select n.*, coalesce(b.`end`, first_value(n.requested) over (partition by n.`group`, n.topic, n.queue_id order by n.nth desc)) as wanted
  from near n left join best b on b.`group` = n.`group` and b.topic = n.topic and b.queue_id = n.queue_id where n.event = 'consumer-offset-back'
), committed as (
  select * from (
    select *, row_number() over (partition by `group`, topic, queue_id order by nth) as commit from commits where requested = wanted
  ) c where commit = 1
), resets as (
  select `group`, topic, broker, queue_id, stored as start, requested as `end`, true as exact, first as at, file, line from committed
  union all
  select b.`group`, b.topic, b.broker, b.queue_id, b.start, b.`end`, b.exact, b.at, b.file, b.line
  from best b left anti join committed c on c.`group` = b.`group` and c.topic = b.topic and c.queue_id = b.queue_id
), copied as (
  select l.`group`, l.topic, l.queue_id, l.offset,
    row_number() over (partition by l.`group`, l.topic, l.queue_id order by l.time desc, l.file desc, l.broker desc, l.line desc) as back
  from looks l join asked a on a.`group` = l.`group` and a.topic = l.topic where l.time <= a.at
), begun as (
  select r.*, a.timestamp, coalesce(r.start, c.offset) as begin
  from resets r join asked a on a.`group` = r.`group` and a.topic = r.topic
    left join copied c on c.`group` = r.`group` and c.topic = r.topic and c.queue_id = r.queue_id and c.back = 1
), pulls as (
  select *, row_number() over (partition by `group`, topic, coalesce(broker, ''), queue_id order by nth) as pull
  from judged where event = 'pull-started' and `group` is not null and topic is not null and queue_id is not null and offset is not null
    and first is not null
), late as (
  select * from pulls where pull = 1 and offset > 0 and not startswith(topic, '%RETRY%')
), saved as (
  select file, max(time) as time from known_positions where source = 'copy' group by file
), copies_in_time as (
  -- A copy in which no group has an offset yet has no positions.
  select file, time from saved
  union all
  select c.file, c.time from offset_copies c left anti join saved s on s.file = c.file
), earlier as (
  select s.nth, s.`group`, s.topic, max(struct(c.time, c.file)).file as file from late s join copies_in_time c on c.time <= s.first
  group by s.nth, s.`group`, s.topic
), not_yet as (
  select e.nth from earlier e left anti join looks l on l.file = e.file and l.`group` = e.`group` and l.topic = e.topic
), started as (
  -- A group had no offset of a topic before: it was just created, or an earlier copy lacks it.
  select s.* from late s left join not_yet n on n.nth = s.nth where if(s.born is null, n.nth is not null, abs(s.micros - s.born) < 60000000)
), moves as (
  select 'deleted-before-consumed' as kind, `group`, topic, broker, queue_id, offset as start, next as `end`, true as exact, first as at, file, line,
    1 as part, nth from by_client
  union all
  select 'deleted-before-consumed' as kind, `group`, topic, broker, moved as queue_id, requested as start, least as `end`, true as exact, first as at,
    file, line, 2 as part, nth from by_broker
  union all
  select if(coalesce(`end` > begin, timestamp = -1, false), 'skip', 'reset') as kind, `group`, topic, broker, queue_id, begin as start, `end`, exact, at,
    file, line, 3 as part, 0 as nth from begun
  union all
  select if(i.next < i.offset, 'reset', 'skip') as kind, i.`group`, i.topic, i.broker, i.queue_id, i.offset as start, i.next as `end`, false as exact,
    i.first as at, i.file, i.line, 4 as part, i.nth
  from illegal i left anti join asked a on a.`group` = i.`group` and a.topic = i.topic
  where not i.small and i.offset is not null and i.next is not null
  union all
  select 'first-start' as kind, `group`, topic, broker, queue_id, 0 as start, offset as `end`, true as exact, first as at, file, line, 5 as part, nth
  from started
  union all
  -- The first pull is in the client's log up to 4.9.8; later the first delivery in the group's ledger shows it.
  select 'first-start' as kind, `group`, topic, null as broker, queue_id, 0 as start, offset as `end`, true as exact, first as at, file, line, 6 as part,
    0 as nth from ledger_starts
), last as (
  select *, row_number() over (partition by kind, `group`, topic, coalesce(broker, ''), queue_id order by part desc, nth desc) as back
  from moves where not start <=> `end`
)
select m.kind, m.`group`, m.topic, m.broker,
  row_number() over (order by m.kind, coalesce(m.`group`, ''), coalesce(m.topic, ''), if(m.queue_id is null, '', coalesce(m.broker, '')),
    coalesce(m.queue_id, -1), m.part, m.nth, m.file, m.line, m.back) - 1 as number,
  m.queue_id, cast(m.start as bigint) as start, m.`end`, m.exact, m.at, a.at as asked, m.file, cast(m.line as bigint) as line
from last m left join asked a on a.`group` = m.`group` and a.topic = m.topic
where m.queue_id is null or m.back = 1
order by number
limit 200000
