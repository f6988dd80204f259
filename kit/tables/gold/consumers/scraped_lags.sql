-- One row per scraped metric of a lag and its labels, as last scraped: name, subject (labels), value (messages), ts, file, line. At most 100,000 rows.
-- rocketmq-exporter: exporter/collector/RMQMetricsCollector; brokers from 5.1.0 on: broker/metrics/BrokerMetricsConstant.
with numbered as (
  select name, subject, value, ts, file, line,
    row_number() over (partition by name, subject order by ts desc nulls last, file desc, line desc) as nth
  from metrics
  where name in ('rocketmq_group_diff', 'rocketmq_consumer_lag_messages') and value is not null
)
select name, subject, value, ts, file, line
from numbered where nth = 1
order by ts nulls first, file, line, name, subject
limit 100000
