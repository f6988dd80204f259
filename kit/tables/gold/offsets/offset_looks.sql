-- One row per offset of a users' group in a file: time (of the file, or printed), end (as printed), sure (the time is that of the system it was taken
-- from), own (a store's own file); the same in all rows: slave (there is one), collected (the evidence can have been collected until then, null if
-- unknown). A slave's copies, which only follow its master's, count where there is no other. RocketMQ's own groups: `kit.rocketmq.names.of_users`.
with masters as (
  select distinct broker from file_brokers where not coalesce(slave, false)
), slaves as (
  select count_if(slave) > 0 as slave from file_brokers
), own as (
  select distinct regexp_replace(concat(root, '/config/', name), '^[.]/', '') as file
  from (select root, explode(array('consumerOffset.json', 'lmqConsumerOffset.json')) as name from file_brokers) named
), retries as (
  -- Without the command line the group's own retry topic names it; those of POP are longer (KeyBuilder.buildPopRetryTopic).
  select file, min_by(substring(topic, 8), length(topic)) as `group` from admin_queues where startswith(topic, '%RETRY%') group by file
), looks as (
  select s.time, 'copy' as source, s.file, s.line, s.`group`, s.topic, coalesce(f.broker, '') as broker, s.queue_id, s.value as offset,
    cast(null as bigint) as reached
  from saved_offsets s left join file_brokers f on f.file = s.file left join masters m on m.broker = f.broker
  where not (coalesce(f.slave, false) and m.broker is not null)
  union all
  select a.time, 'progress' as source, a.file, a.line, coalesce(nullif(a.`group`, ''), r.`group`) as `group`, a.topic,
    if(f.printed = a.broker, f.broker, a.broker) as broker, a.queue_id, a.offset, a.reached
  from admin_queues a left join retries r on r.file = a.file left join file_brokers f on f.file = a.file
  where a.command in ('consumerProgress', 'brokerConsumeStats') and (a.offset is not null or a.reached is not null) and a.topic <> '' and a.broker <> ''
)
select l.time, l.source, l.file, l.line, l.`group`, l.topic, l.broker, l.queue_id, l.offset, l.reached as `end`, t.original or (l.source = 'progress' and l.time is not null) as sure,
  o.file is not null as own, s.slave, t.collected
from looks l cross join file_times t cross join slaves s left join own o on o.file = l.file
where l.`group` <> '' and not l.`group` rlike
  '^(CID_RMQ_SYS_|TOOLS_CONSUMER|SELF_TEST|FILTERSRV|__MONITOR|CID_ONS|%SYS|SCHEDULE_CONSUMER|CLIENT_INNER_PRODUCER|admin_ext_group)'
order by l.file, l.line, l.`group`, l.topic, l.queue_id, l.source limit 1200000
