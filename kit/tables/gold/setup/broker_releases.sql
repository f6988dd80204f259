-- One row per release (as printed) of a broker in rocketmqHome, clusterList or brokerStatus, which has it before the name or in the command.
with asked as (
  select file, max_by(value, line) as address from admin_names where name = 'argument:-b' group by file
), printed as (
  select 0 as part, 0 as line, regexp_extract(value, 'rocketmq[A-Za-z0-9_-]*?([0-9]+[.][0-9]+[.][0-9]+)', 1) as version, file, address
  from broker_settings where name = 'rocketmqHome'
  union all
  select 1 as part, n.line, n.value as version, n.file, coalesce(nullif(trim(replace(n.name, 'brokerVersionDesc', '')), ''), a.address) as address
  from admin_names n left join asked a on a.file = n.file where endswith(n.name, 'brokerVersionDesc')
  union all
  select 1 as part, n.line, n.value as version, n.file, max(c.value) as address
  from admin_names n left join admin_names c on c.file = n.file and c.line = n.line and c.name = '#Addr' where n.name = '#Version'
  group by n.line, n.value, n.file
)
select version, file, address from printed where version <> ''
order by part, file, line, version, address limit 200000
