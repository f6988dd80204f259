-- One row per statement of client and broker logs about consuming, by its values: n (entries), and the range of each number (low_…, high_…; behind_ms in
-- ms). Events whose order shows who held what (client/impl/consumer/RebalanceImpl, broker/client/ConsumerManager) have a row for each entry (`own`).
-- Patterns with two places for a value call the second one group_2, topic_2, …
with printed as (
  select event, file, source, line, ts,
    case when event in (
      'client-created', 'queues-assigned', 'queues-assigned-go', 'queue-taken', 'queue-left', 'pull-started', 'consumer-stopped', 'consumer-connected',
      'consumer-disconnected', 'subscription-replaced', 'subscription-removed', 'subscription-added', 'expired-sent-back', 'grpc-in-hand'
    ) then line end as own,
    coalesce(value_group, value_group_2) as `group`, coalesce(value_topic, value_topic_2) as topic,
    coalesce(value_broker, value_broker_2) as broker, coalesce(value_queue_id, value_queue_id_2) as queue_id,
    coalesce(value_address, value_address_2) as address, value_client_id as client_id, value_set as `set`,
    value_clients as clients, value_data as data, value_old as old, value_new as new, value_queue_offset as queue_offset,
    value_uniq_key as uniq_key, value_msg_id as msg_id,
    try_cast(value_min_offset as bigint) as min_offset, try_cast(value_count as bigint) as count,
    try_cast(value_reconsume_times as bigint) as reconsume_times, try_cast(value_behind_ms as bigint) as behind_ms
  from events
  where event in (
    'client-created', 'heartbeat-data', 'queues-assigned', 'queues-assigned-go', 'queue-taken', 'queue-left', 'pull-started', 'pull-held-back',
    'pull-held-back-cpp', 'pull-offset-illegal', 'pull-offset-fixed', 'queue-lock-failed', 'orderly-not-done', 'consume-exception', 'consume-null',
    'expired-sent-back', 'consumer-stopped', 'consumer-connected', 'consumer-disconnected', 'consumer-registered', 'consumer-offset-back',
    'subscription-replaced', 'subscription-removed', 'subscription-added', 'subscription-missing', 'subscription-not-latest',
    'consumer-offset-saved', 'consumer-group-changed', 'receive-held-back', 'grpc-consumer-created', 'grpc-in-hand',
    'group-falls-behind'
  )
)
select event, file, source, `group`, topic, broker, queue_id, address, client_id, `set`, clients, data, old, new, queue_offset, uniq_key, msg_id,
  count(*) as n, min(line) as line, max(line) as last_line, min(ts) as first, max(ts) as last,
  min(min_offset) as low_min_offset, max(min_offset) as high_min_offset, max(count) as high_count,
  max(reconsume_times) as high_reconsume_times, max(behind_ms) as high_behind_ms
from printed
group by event, file, source, `group`, topic, broker, queue_id, address, client_id, `set`, clients, data, old, new, queue_offset, uniq_key, msg_id, own
order by first nulls last, file, line, event, source, `group`, topic, broker, queue_id, address, client_id, `set`, clients, data, old, new, queue_offset,
  uniq_key, msg_id
limit 200000
