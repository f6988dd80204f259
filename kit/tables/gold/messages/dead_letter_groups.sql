-- One row per consumer group with dead letters, or with copies on their way there: waiting (how many more messages wait for a delay before the dead letter
-- topic than are in it). Before 4.9.2 a dead letter passes the delay that is still set on it (broker/processor/SendMessageProcessor.consumerSendMsgBack).
with letters as (
  select consumer_group, stage = 'dlq' as dead, if(uniq_key is null, xxhash64(offset_msg_id), id) as message, count(*) as records,
    max(reconsume_times) as reconsume_times, min(store_timestamp) as first, max(store_timestamp) as last
  from records
  where stage = 'dlq' or (stage = 'schedule' and startswith(property_REAL_TOPIC, '%DLQ%'))
  group by consumer_group, stage = 'dlq', if(uniq_key is null, xxhash64(offset_msg_id), id)
)
select consumer_group, coalesce(sum(if(dead, records, 0)), 0) as records, count_if(dead) as messages,
  max(if(dead, reconsume_times, null)) as reconsume_times, min(if(dead, first, null)) as first, max(if(dead, last, null)) as last,
  greatest(count_if(not dead) - count_if(dead), 0) as waiting
from letters group by consumer_group
order by consumer_group nulls first limit 5000
