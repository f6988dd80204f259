-- One row per topic, stage and reconsume_times: records, messages (different UNIQ_KEYs), first, last (store times). At most 5,000, the earliest first.
-- Stages: kit.rocketmq.stages; each copy of a message is a record of its own (reference §4).
with copied as (
  select topic, stage, reconsume_times, if(uniq_key is null, null, id) as message, count(*) as records, min(store_timestamp) as first, max(store_timestamp) as last
  from records group by topic, stage, reconsume_times, if(uniq_key is null, null, id)
)
select topic, stage, reconsume_times, sum(records) as records, count(message) as messages, min(first) as first, max(last) as last
from copied group by topic, stage, reconsume_times
order by first nulls first, topic nulls first, stage nulls first, reconsume_times nulls first
limit 5000
