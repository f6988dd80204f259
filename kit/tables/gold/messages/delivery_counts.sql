-- One row per consumer, topic, kind of source (logged) and success of its deliveries: deliveries, first, last (their times). At most 20,000.
select logged, consumer, topic, success, count(*) as deliveries, min(time) as first, max(time) as last
from deliveries group by logged, consumer, topic, success
order by logged, consumer, topic nulls first, success nulls first limit 20000
