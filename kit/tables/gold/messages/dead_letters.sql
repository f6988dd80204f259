-- One row per record in a dead letter topic: retry_topic (where it was consumed). The first 5,000 stored.
select consumer_group, uniq_key, keys, tags, offset_msg_id, reconsume_times, born_timestamp, store_timestamp, file, physical_offset,
  property_RETRY_TOPIC as retry_topic, property_ORIGIN_MESSAGE_ID as origin_message_id
from records where stage = 'dlq'
order by store_timestamp, physical_offset, file limit 5000
