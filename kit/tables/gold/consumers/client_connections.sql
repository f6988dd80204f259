-- One row per connection of a consumer that consumerConnection lists (listed) or a broker's log has: group, client_id, address, first, last (null:
-- to the end of the evidence), file, line, listed, called (the line of the command that lists it). At most 200,000, listed ones first, else in order of time.
-- broker/client/ConsumerManager, broker/client/ClientHousekeepingService.
with called as (
  select file, line, called, time, cells['#ClientId'] as client_id, coalesce(cells['#ClientAddr'], '') as address, arguments['-g'] as `group`
  from admin_blocks where command = 'consumerConnection' and block > 0 and cells['#ClientId'] <> ''
), ended as (
  select c.file, c.line, coalesce(c.`group`, '') as `group`, coalesce(c.client_id, '') as client_id, coalesce(c.address, '') as address, c.first,
    min(d.first) as last
  from consumer_statements c left join consumer_statements d
    on d.event = 'consumer-disconnected' and d.file = c.file and coalesce(d.address, '') = coalesce(c.address, '') and d.first >= c.first
  where c.event = 'consumer-connected' and c.address is not null
  group by c.file, c.line, c.`group`, c.client_id, c.address, c.first
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
