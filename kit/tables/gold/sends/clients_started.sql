-- One row per producer or consumer of users that a log shows starting: file, source, role, group, n. At most 20,000.
-- DefaultMQProducerImpl.start and DefaultMQPushConsumerImpl.start print it.
select file, source, values['role'] as role, values['group'] as group, count(*) as n
from events where event = 'client-started' and values['group'] not in ('CLIENT_INNER_PRODUCER', 'admin_ext_group')
group by file, source, values['role'], values['group'] order by file, source, role, group limit 20000
