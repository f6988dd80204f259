-- One row per broker, by its IPv4 address, whose answer a client waited for in vain: host. At most 1,000, in order. RemotingTimeoutException
-- names the address of the route, which is the one that the broker stores under (brokerIP1).
select distinct regexp_extract(value_address, '([0-9]+[.][0-9]+[.][0-9]+[.][0-9]+):[0-9]+$', 1) as host
from events
where event = 'client-wait-timeout' and value_address rlike '[0-9]+[.][0-9]+[.][0-9]+[.][0-9]+:[0-9]+$'
order by host limit 1000
