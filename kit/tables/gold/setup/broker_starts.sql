-- One row per start of a broker in its log that names its release. BrokerStartup prints all settings, one a line (MixAll.printObjectProperties).
select file, line, regexp_extract(message, 'rocketmq[A-Za-z0-9_-]*?([0-9]+[.][0-9]+[.][0-9]+)', 1) as version, ts
from all_entries
where source = 'broker' and thread = 'main' and message like 'rocketmqHome=%' and ts is not null
order by ts, file, line limit 20000
