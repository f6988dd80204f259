-- One row per connection of a consumer that consumerConnection lists (listed) or a broker's log has: group, client_id, address, first, last (null:
-- to the end of the evidence), file, line, listed. At most 200,000, listed ones first, else in order of time.
-- An output prints no time: it is that of its file, unless the file is a copy. broker/client/ConsumerManager, broker/client/ClientHousekeepingService.
with calls as (
  select file, line, max(case when name = 'argument:-g' then value end) as `group` from admin_cells where startswith(name, 'argument:')
  group by file, line
), cells as (
  select file, block, min(line) as line, min(time) as time, max(case when name = '#ClientId' then value end) as client_id,
    max(case when name = '#ClientAddr' then value end) as address
  from admin_cells where command = 'consumerConnection' and block > 0 and not startswith(name, 'argument:') group by file, block
), called as (
  select r.file, r.line, r.time, r.client_id, coalesce(r.address, '') as address, max_by(c.`group`, c.line) as `group`
  from cells r join calls c on c.file = r.file and c.line <= r.line where r.client_id <> ''
  group by r.file, r.block, r.line, r.time, r.client_id, r.address
), ended as (
  select c.file, c.line, coalesce(c.`group`, '') as `group`, coalesce(c.client_id, '') as client_id, coalesce(c.address, '') as address, c.first,
    min(d.first) as last
  from consumer_statements c left join consumer_statements d
    on d.event = 'consumer-disconnected' and d.file = c.file and coalesce(d.address, '') = coalesce(c.address, '') and d.first >= c.first
  where c.event = 'consumer-connected'
  group by c.file, c.line, c.`group`, c.client_id, c.address, c.first
), every as (
  select c.`group`, c.client_id, c.address, if(t.original, c.time, null) as first, if(t.original, c.time, null) as last, c.file, c.line, true as listed,
    cast(null as timestamp) as at
  from called c cross join file_times t where c.`group` <> ''
  union all
  select `group`, client_id, address, first, last, file, line, false as listed, first as at from ended
)
select `group`, client_id, address, first, last, file, line, listed
from every order by listed desc, at nulls last, file, line, client_id, `group`
limit 200000
