-- One row per topic of transactions and broker: topic, broker, half_records, and in bytes the most that is not body at the last put-back (overhead) and
-- the longest property string then (properties); refused: half records that some put-back exceeds. At most 5,000 rows.
select real_topic as topic, broker, count(*) as half_records, max(overhead) as overhead, max(last_properties) as properties, count(refused) as refused
from sized_halves group by real_topic, broker
order by topic, broker
limit 5000
