-- One row per topic of transactions and broker: the most that is not body at the last put-back (overhead), the longest property string then, refused (half
-- records that some put-back exceeds), safe_body (the largest stored body that every broker of the topic still accepts then, null where none is safe).
with topics as (
  select real_topic as topic, broker, count(*) as half_records, max(overhead) as overhead, max(last_properties) as properties, count(refused) as refused
  from sized_halves group by real_topic, broker
), safe as (
  select t.*, case when l.how is not null and l.max_size is not null and t.properties <= l.properties_max
    then least(l.total_max - t.overhead, l.body_max, l.dledger_max - t.overhead) end as body
  from topics t join size_limits l on l.broker = t.broker
)
select topic, broker, half_records, overhead, properties, refused,
  case when count_if(body >= 0) over (partition by topic) = count(*) over (partition by topic) then min(body) over (partition by topic) end as safe_body
from safe
order by topic, broker limit 5000
