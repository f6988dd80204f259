-- One row per record that a producer wrote: columns of `records`. Copies that RocketMQ makes are left out (check-backs, commits, delayed
-- deliveries, send-backs, retries, dead letters), so are its own messages and the traces of a topic that msgTraceTopicName names.
select r.* from records r
left anti join (select distinct value from configs where name = 'msgTraceTopicName' and value is not null) t on r.topic = t.value
where r.original
