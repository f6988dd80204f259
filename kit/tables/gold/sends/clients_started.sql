-- One row per producer or consumer of users that a log shows starting: file, source, role (of gRPC clients, which print other lines and no group, `gRPC
-- producer`). At most 20,000. DefaultMQProducerImpl.start and DefaultMQPushConsumerImpl.start print it, and rocketmq-clients ProducerImpl.startUp.
select file, source, concat(if(event = 'client-started', '', 'gRPC '), coalesce(value_role, '')) as role, coalesce(value_group, '') as group, count(*) as n
from events
where event in ('client-started', 'grpc-client-started') and coalesce(value_group, '') not in ('CLIENT_INNER_PRODUCER', 'admin_ext_group')
group by 1, 2, 3, 4 order by file, source, role, group limit 20000
