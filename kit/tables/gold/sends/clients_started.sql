-- One row per producer or consumer of users that a log shows starting: file, source, role, group, n. At most 20,000.
-- DefaultMQProducerImpl.start and DefaultMQPushConsumerImpl.start print it.
select file, source, value_role as role, value_group as group, count(*) as n
from events where event = 'client-started' and value_group not in ('CLIENT_INNER_PRODUCER', 'admin_ext_group')
group by file, source, value_role, value_group order by file, source, role, group limit 20000
