-- One row per cell of an mqadmin output that names a broker, its release (clusterList, brokerStatus; elsewhere a version is a client's), or a group.
select file, line, command, name, value
from admin
where name in ('argument:-b', '#Broker Name', 'consumerGroup', '#Group') or name like '%brokerVersionDesc%'
  or (command = 'clusterList' and name in ('#Addr', '#Version'))
  or (name in ('#Topic', 'topicName', 'Topic') and (substring(value, 1, 7) = '%RETRY%' or substring(value, 1, 5) = '%DLQ%'))
order by file, line, name, value limit 200000
