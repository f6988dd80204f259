-- One row per time for which a process pulled a queue, by client logs (client/impl/consumer/RebalanceImpl): place (the folder of its log), last (null: to
-- the end of the evidence). The set a rebalance ends with shows what was taken where the lines of each queue are gone (rolled away).
with ordered as (
  select event, `group`, topic, broker, try_cast(queue_id as bigint) as queue_id, client_id, `set`, file, line, first, last,
    if(instr(file, '/') > 0, regexp_replace(file, '/[^/]*$', ''), '.') as place, row_number() over (order by first nulls last, file, line, event) as nth
  from consumer_statements
  where event in ('client-created', 'queue-taken', 'pull-started', 'queues-assigned', 'queues-assigned-go', 'queue-left', 'consumer-stopped')
), clients as (
  select file, max_by(client_id, nth) as client_id from ordered
  where event in ('client-created', 'queues-assigned', 'queues-assigned-go') and client_id <> '' group by file
), shares as (
  select nth, event, place, `group`, client_id, file, line, first, last,
    explode(array_distinct(regexp_extract_all(`set`, 'topic=[^,\\]]*, brokerName=[^,\\]]*, queueId=[0-9]+', 0))) as queue
  from ordered where `set` is not null and (topic is null or queue_id is null)
), named as (
  select nth, event, place, coalesce(`group`, '') as `group`, topic, coalesce(broker, '') as broker, queue_id, client_id, file, line, first, last
  from ordered where event in ('queue-taken', 'pull-started', 'queue-left') and topic is not null and queue_id is not null
  union all
  select nth, event, place, coalesce(`group`, '') as `group`, regexp_extract(queue, 'topic=([^,]*)', 1) as topic,
    regexp_extract(queue, 'brokerName=([^,]*)', 1) as broker, cast(regexp_extract(queue, 'queueId=([0-9]+)', 1) as bigint) as queue_id, client_id,
    file, line, first, last
  from shares
), stops as (
  select s.nth, n.place, n.`group`, n.topic, n.broker, n.queue_id, s.first
  from (select distinct place, `group`, topic, broker, queue_id from named) n
    join ordered s on s.place = n.place and s.event = 'consumer-stopped' and coalesce(s.`group`, n.`group`) = n.`group`
), steps as (
  select nth, place, `group`, topic, broker, queue_id, if(event = 'queue-left', 1, 0) as ends, if(event = 'queue-left', last, null) as ended,
    client_id, file, line, first
  from named
  union all
  select nth, place, `group`, topic, broker, queue_id, 1 as ends, first as ended, null as client_id, null as file, null as line, null as first
  from stops
), numbered as (
  select *, coalesce(sum(ends) over (partition by place, `group`, topic, broker, queue_id order by nth rows between unbounded preceding and 1 preceding),
    0) as spell
  from steps
), spells as (
  select place, `group`, topic, broker, queue_id, spell, min(case when ends = 0 then nth end) as taken, max(case when ends = 1 then nth end) as closed,
    max(ended) as last
  from numbered group by place, `group`, topic, broker, queue_id, spell
)
select s.`group`, s.place, coalesce(t.client_id, c.client_id, '') as client_id, s.topic, if(b.printed = s.broker, b.broker, s.broker) as broker, s.queue_id, t.first, s.last, t.file, t.line
from spells s join named t on t.nth = s.taken and t.topic = s.topic and t.broker = s.broker and t.queue_id = s.queue_id
  left join clients c on c.file = t.file left join file_brokers b on b.file = t.file
order by s.closed nulls last, s.taken, s.topic, s.broker, s.queue_id, s.`group`, s.place limit 200000
