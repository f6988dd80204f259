-- One row per address that settings, mqadmin outputs and logs name, and kind: `name server` (configurations, commands) or `advertised` (what a broker
-- registers, brokerIP1, and clients connect to): the first line (of advertised ones in clusterList, else in a route or registration, else brokerIP1).
with named as (
  select file, line, name, value from configs where name in ('namesrvAddr', 'listenPort') or (name = 'brokerIP1' and not backup and trim(value) <> '')
  union all
  select file, line, name, value from admin where name in ('#Addr', 'argument:-n', 'argument:--namesrvAddr')
), ports as (
  -- Brokers of 5.x print another one, of a container, before the one they listen on.
  select file, max_by(trim(value), line) as port from named where name = 'listenPort' group by file
), addresses as (
  select 'name server' as kind, 0 as rank, file, line, explode(split(value, '[;,]')) as address
  from named where name in ('namesrvAddr', 'argument:-n', 'argument:--namesrvAddr')
  union all
  select 'name server' as kind, 0 as rank, file, line, explode(split(value_address, ';')) as address from events where event = 'name-server-given'
  union all
  select 'advertised' as kind, 1 as rank, file, line, value as address from named where name = '#Addr'
  union all
  select 'advertised' as kind, 2 as rank, e.file, e.line, explode(if(coalesce(e.value_address, '') <> '', array(e.value_address),
    regexp_extract_all(e.value_brokers, '(\\[[0-9a-fA-F:.]+\\]|[0-9A-Za-z_.-]+):[0-9]{1,5}', 0))) as address
  from events e where e.event in ('route-found', 'broker-registered', 'broker-boot')
  union all
  select 'advertised' as kind, 3 as rank, n.file, n.line, concat(trim(n.value), ':', coalesce(p.port, '10911')) as address
  from named n left join ports p on n.file = p.file where n.name = 'brokerIP1'
), trimmed as (
  select kind, rank, file, line, regexp_replace(trim(address), '^/+', '') as address from addresses
)
select kind, address, place.file as file, place.line as line from (
  select kind, address, min(struct(rank, file, line)) as place from trimmed where address <> '' group by kind, address
) order by kind, place, address limit 20000
