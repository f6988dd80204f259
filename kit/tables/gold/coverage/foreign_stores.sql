-- One row per store whose records no broker stored that the logs show to start: file (its folder), hosts, others. None where a broker is a slave, which
-- stores under its master's address. BrokerController.getBrokerAddr, which is printed, and the store host of records are both brokerIP1 and listenPort.
with started as (
  select distinct value_address as address from all_events
  where event = 'broker-boot' and value_address rlike '^[0-9]+[.][0-9]+[.][0-9]+[.][0-9]+:[0-9]+$'
), stores as (
  select b.root, e.store_host, s.address from store_extent e join file_brokers b on b.file = e.file left join started s on s.address = e.store_host
)
select s.root as file, min(s.store_host) as hosts, min(a.address) as others
from stores s cross join started a cross join (select count_if(slave) as slaves from file_brokers) b
where b.slaves = 0
group by s.root
having count(s.address) = 0
order by file
