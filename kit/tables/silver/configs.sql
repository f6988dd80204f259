-- stored as Parquet
-- One row for each setting of a broker, topic or group: origin (broker.conf, topics, subscriptionGroup, …, getBrokerConfig, broker.log), subject (the
-- topic or group, null for the broker itself), backup (from a .bak). Of an output of getBrokerConfig each block of settings stands below the address of
-- its broker. broker.log begins at every start with all settings, defaults included (BrokerStartup, BrokerController).
select file, line, origin, subject, name, value, backup from config_files
union all
select file, line, 'broker.log' as origin, cast(null as string) as subject,
  substring_index(message, '=', 1) as name, substring(message, instr(message, '=') + 1) as value, false as backup
from all_entries
where source = 'broker' and thread = 'main' and message rlike '^[a-z][A-Za-z0-9_]{2,60}=[^ ]?'
union all
select file, line, 'getBrokerConfig' as origin, nullif(regexp_extract(title, '[^ ]+:[0-9]+', 0), '') as subject, name, value, false as backup
from (
  select *, max(case when name = 'title' then value end) over (partition by file, block) as title
  from admin where command = 'getBrokerConfig' and block > 0
)
where name not in ('title', 'text')
