-- One row per connection of a consumer that consumerConnection lists (listed) or a broker's log has: last (null: to the end of the evidence), called (the
-- line of the command that lists it). broker/client/ConsumerManager, broker/client/ClientHousekeepingService.
with called as (
  select file, line, called, time, cells['#ClientId'] as client_id, coalesce(cells['#ClientAddr'], '') as address, arguments['-g'] as `group`
  from admin_blocks where command = 'consumerConnection' and block > 0 and cells['#ClientId'] <> ''
), timed as (
  -- The first disconnection of the address that is not before a connection: from the latest on, the least so far.
  select *, min(case when event = 'consumer-disconnected' then first end)
      over (partition by file, coalesce(address, '') order by first desc nulls last) as next
  from consumer_statements where event in ('consumer-connected', 'consumer-disconnected')
), ended as (
  select distinct file, line, coalesce(`group`, '') as `group`, coalesce(client_id, '') as client_id, coalesce(address, '') as address, first,
    case when first is not null then next end as last
  from timed where event = 'consumer-connected' and address is not null
), every as (
  select c.`group`, c.client_id, c.address, c.time as first, c.time as last, c.file, c.line, true as listed, c.called,
    cast(null as timestamp) as at
  from called c where c.`group` <> ''
  union all
  select `group`, client_id, address, first, last, file, line, false as listed, 0 as called, first as at from ended
)
select `group`, client_id, address, first, last, file, line, listed, called
from every order by listed desc, at nulls last, file, line, client_id, `group`
limit 200000
