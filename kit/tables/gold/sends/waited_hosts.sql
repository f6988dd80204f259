-- One row per broker whose answer a client waited for in vain. RemotingTimeoutException names the address of the route, that of the store host (brokerIP1).
select distinct regexp_extract(value_address, '([0-9]+[.][0-9]+[.][0-9]+[.][0-9]+):[0-9]+$', 1) as host
from events
where event = 'client-wait-timeout' and value_address rlike '[0-9]+[.][0-9]+[.][0-9]+[.][0-9]+:[0-9]+$'
order by host limit 1000
