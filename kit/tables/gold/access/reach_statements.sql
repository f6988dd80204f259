-- One row per what logs say of connects to brokers, file, source and values: event (connect, or the text), n (entries), of a connect failed, reached
-- (entries, with their first lines), first, last (of its failures, if any), name_server (a failed request was one that goes to a name server). A failed
-- connect is printed by the attempt (NettyRemotingClient.createChannel) and by the exception of the call that waited for it. What a client was given is
-- printed in brackets (getAndCreateNameserverChannel): a name server, even without a port. `connect to null failed`: no name server could be used, no
-- address was tried. What mqadmin could not reach says nothing of clients: a look-up by offset id connects to the address in the id, which no broker has to
-- advertise.
with asked as (
  select distinct file, line from entries
  where known in ('client-connect-failed', 'client-connect', '*') and (array_contains(events, 'client-connect-failed') or array_contains(events, 'client-connect')) and (
    concat_ws(' ', message, trace) like '%RouteInfoFromNameServer%' or concat_ws(' ', message, trace) like '%BrokerOuterAPI.registerBroker%'
    or concat_ws(' ', message, trace) like '%MQClientAPIImpl.getBrokerClusterInfo%'
  )
), looked_up as (
  select distinct c.file, c.line
  from events c join (
    select * from entries where known in ('lookup-failed', '*') or coalesce(source, 'text') in ('mqadmin', 'text')
  ) e on c.file = e.file and e.line between c.line - 8 and c.line + 8
  where c.event = 'client-connect-failed' and (
    array_contains(e.events, 'lookup-failed') and (concat_ws(' ', e.message, e.trace) like '%.viewMessage(%' or e.message like '%QueryMsgByIdSubCommand%')
    or coalesce(e.source, 'text') in ('mqadmin', 'text') and concat_ws(' ', e.message, e.trace) like '%org.apache.rocketmq.tools.command.%')
), connects as (
  select 'connect' as event, e.file, e.source, e.line, min(e.ts) as ts, regexp_replace(regexp_replace(coalesce(
      max(case when e.event = 'client-connect' then coalesce(e.value_address, e.value_address_2) end), max(e.value_address)
    ), '^/+', ''), '^\\[([^\\[\\]\\s]+:[0-9]+)\\]$', '$1') as address,
    coalesce(max(case when e.event = 'client-connect' then coalesce(e.value_how, if(e.value_address_2 is null, null, 'success')) end), '')
      = 'success' as good, max(case when a.line is not null then 1 else 0 end) as name_server
  from events e left join asked a on e.file = a.file and e.line = a.line left join looked_up l on e.file = l.file and e.line = l.line
  where e.event in ('client-connect', 'client-connect-failed') and l.line is null
  group by e.file, e.source, e.line
), statements as (
  select event, file, source, line, ts, address, good, cast(null as string) as client_id, name_server
  from connects where address <> '' and address <> 'null' and coalesce(try_cast(regexp_extract(address, ':([0-9]+)$', 1) as bigint), 0) < 65536
  union all
  select e.event, e.file, e.source, e.line, e.ts, e.value_address as address, cast(null as boolean) as good, e.value_client_id as client_id,
    0 as name_server
  from events e
  where e.event in ('consumer-list-failed', 'client-created')
), counted as (
  select event, file, source, address, client_id, count(*) as n, min(line) as line, count(case when not good then 1 end) as failed,
    count(case when good then 1 end) as reached, min(case when not good then line end) as failed_line, min(case when good then line end) as reached_line,
    coalesce(min(case when not good then ts end), min(ts)) as first, coalesce(max(case when not good then ts end), max(ts)) as last,
    max(name_server) > 0 as name_server
  from statements group by event, file, source, address, client_id
), numbered as (
  select *, row_number() over (partition by event order by file, line, address, client_id) as nth from counted
)
select event, file, source, address, client_id, n, line, failed, reached, failed_line, reached_line, first, last, name_server
from numbered where nth <= 20000 order by event, nth
