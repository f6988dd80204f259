-- One row per master that the evidence names, whose records are in no store of it, and file that names no stored one. What happened there these stores do
-- not show. Named by its start, its slave, its brokerIP1, clusterList, or a route that a client was given (id 0; BrokerController registers brokerIP1 and
-- listenPort, the store host). A slave stores under its master's address, members of a group that elects (DLedger, controller) under that of whoever led.
with own as (
  select file, address, max(case when name = 'brokerName' then trim(value) end) as broker, bool_or(name = 'brokerRole' and trim(value) = 'SLAVE'
      or name = 'brokerId' and trim(value) <> '0' or name in ('enableDLegerCommitLog', 'enableControllerMode') and trim(value) = 'true') as member
  from broker_settings where subject is null and not coalesce(backup, false) group by file, address
), boots as (
  select file, value_broker as broker, value_address as address, event = 'broker-boot' as own from all_events
  where event in ('broker-boot', 'slave-synced')
), routes as (
  select file, explode(regexp_extract_all(value_brokers, 'brokerName=[^,]*, brokerAddrs=[{]0=[0-9.]+:[0-9]+', 0)) as route from all_events
  where event = 'route-found'
), named as (
  select file, broker, address from boots
  union
  select file, broker, address from own
  union
  select file, regexp_extract(route, 'brokerName=([^,]*),', 1) as broker, regexp_extract(route, '0=(.*)', 1) as address from routes
  union
  select a.file, n.value as broker, a.value as address from admin a
    join admin b on a.file = b.file and a.line = b.line and b.name = '#BID' and trim(b.value) = '0'
    left join admin n on a.file = n.file and a.line = n.line and n.name = '#Broker Name'
  where a.command = 'clusterList' and a.name = '#Addr'
), stored as (
  select distinct store_host as address from store_extent where store_host is not null
), members as (
  select address from own where member and address is not null
  union
  select b.address from boots b join own o on o.file = b.file and o.member where b.own
), judged as (
  select n.broker, n.address, n.file, bool_or(s.address is not null) over (partition by n.file) as beside
  from named n left join stored s on s.address = n.address
)
select distinct broker, address, file from judged
where address rlike '^[0-9]+[.][0-9]+[.][0-9]+[.][0-9]+:[0-9]+$' and not beside
  and address not in (select address from members where address is not null)
order by address, file, broker limit 10000
