-- One row per start of a broker in its log that names its release: file, line, home (rocketmqHome), ts. BrokerStartup prints all settings, one a line
-- (MixAll.printObjectProperties). At most 20,000 rows, the first ones.
select file, line, substring(message, 14) as home, ts
from all_entries
where source = 'broker' and thread = 'main' and message like 'rocketmqHome=%' and ts is not null
order by ts, file, line
limit 20000
