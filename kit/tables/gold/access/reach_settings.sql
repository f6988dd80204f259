-- One row per address that a setting or an mqadmin output names, in order of origin (admin, config), file and line: name (namesrvAddr, brokerIP1,
-- listenPort, `#Addr`, `argument:-n`, `argument:--namesrvAddr`), value, backup. At most 20,000 rows.
select origin, file, line, name, value, backup from (
  select 'config' as origin, file, line, name, value, backup from configs where name in ('namesrvAddr', 'brokerIP1', 'listenPort')
  union
  select 'admin' as origin, file, line, name, value, false as backup from admin
  where name in ('#Addr', 'argument:-n', 'argument:--namesrvAddr')
)
order by origin, file, line, name, value, backup
limit 20000
