-- One row per topic found without a route, group that asked for it, file and source: by_send (printed below DefaultMQProducerImpl; by an application or in
-- a paste, not below a consumer or an administrator's call). Queues of a light topic (common/MixAll.LMQ_PREFIX) never have a route.
with statements as (
  select e.file, e.source, e.line, min(e.ts) as ts, max(e.event) as event,
    coalesce(max(case when e.event = 'topic-unknown-to-consumer' then e.value_topic end), max(e.value_topic)) as topic,
    coalesce(max(case when e.event = 'topic-unknown-to-consumer' then e.value_group end), max(e.value_group)) as consumer_group
  from events e where e.event in ('topic-unknown-to-consumer', 'no-route')
  group by e.file, e.source, e.line
), marked as (
  select s.*, case when concat_ws(' ', e.message, e.trace) like '%DefaultMQProducerImpl%' then true
    when e.trace like '%client.impl.consumer.%' or e.trace like '%client.impl.MQAdminImpl%' then false else coalesce(s.source in ('app', 'text'), false) end as by_send
  from statements s left join entries e on s.file = e.file and s.line = e.line
)
select event, file, source, topic, consumer_group, by_send, count(*) as n, min(line) as line, min(ts) as first, max(ts) as last
from marked where topic is not null and not startswith(topic, '%LMQ%')
group by event, file, source, topic, consumer_group, by_send
order by first nulls last, file, line, event, topic, consumer_group, by_send limit 1000
