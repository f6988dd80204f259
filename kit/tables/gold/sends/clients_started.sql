-- One row per producer or consumer of users that a log shows starting: file, role, group, n. At most 20,000.
-- DefaultMQProducerImpl.start and DefaultMQPushConsumerImpl.start print it.
select file, values['role'] as role, values['group'] as group, count(*) as n
from events where event = 'client-started' and values['group'] not in ('CLIENT_INNER_PRODUCER', 'admin_ext_group')
group by file, values['role'], values['group'] order by file, role, group limit 20000
