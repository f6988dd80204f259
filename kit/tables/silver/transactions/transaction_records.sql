-- stored as Parquet
-- One row per record of a message that a transaction producer sent, and per dead letter: what it is in the life of its transaction: target (REAL_TOPIC),
-- prepared (offset of the half record it names, 0: none), cluster and immune (texts of those properties), half (a half message or a copy put back; no
-- leaked retry, whose REAL_TOPIC is the half topic), renewed (of those: written by a check or during the immunity time), ordinary (in a topic that
-- producers send to), commits (there, with the commit bit), waiting (a commit on its way there through a delay), discarded (by the check limit, or on its
-- way there). Source: broker/processor/EndTransactionProcessor, TransactionalMessageBridge.
with named as (
  select id, uniq_key, keys, topic, property_REAL_TOPIC as target, stage, file, physical_offset, queue_offset, offset_msg_id, store_timestamp, born_host,
    sys_flag & 12 = 8 as commit_bit, coalesce(prepared_transaction_offset, 0) as prepared, coalesce(reconsume_times, 0) as reconsume_times,
    case when property_TRANSACTION_CHECK_TIMES rlike '^[0-9]{1,9}$' then try_cast(property_TRANSACTION_CHECK_TIMES as int) end as checks,
    property_PGROUP as producer_group, property_CLUSTER as cluster, property_CHECK_IMMUNITY_TIME_IN_SECONDS as immune,
    topic = 'RMQ_SYS_TRANS_HALF_TOPIC' and coalesce(property_REAL_TOPIC <> 'RMQ_SYS_TRANS_HALF_TOPIC', false) as half,
    property_TRANSACTION_CHECK_TIMES is not null or property_TRAN_PREPARED_QUEUE_OFFSET is not null as copied,
    topic = 'SCHEDULE_TOPIC_XXXX' as delayed,
    coalesce(case when topic = 'SCHEDULE_TOPIC_XXXX' then property_REAL_TOPIC else topic end, '') as goes_to
  from records
  where uniq_key is not null and (property_TRAN_MSG = 'true' or stage = 'dlq')
), placed as (
  select *, goes_to <> '' and left(goes_to, 7) <> '%RETRY%' and left(goes_to, 5) <> '%DLQ%' and goes_to not in (
    'RMQ_SYS_TRANS_HALF_TOPIC', 'RMQ_SYS_TRANS_OP_HALF_TOPIC', 'TRANS_CHECK_MAX_TIME_TOPIC', 'SCHEDULE_TOPIC_XXXX', 'rmq_sys_wheel_timer',
    'RMQ_SYS_TRACE_TOPIC', 'TBW102', 'AUTO_CREATE_TOPIC_KEY', 'SELF_TEST_TOPIC', 'BenchmarkTest', 'OFFSET_MOVED_EVENT', 'CHECKPOINT_TOPIC'
  ) as of_users
  from named
)
select id, uniq_key, keys, topic, target, file, physical_offset, queue_offset, offset_msg_id, store_timestamp, born_host, prepared, reconsume_times,
  checks, producer_group, cluster, immune, half, half and copied as renewed, of_users and not delayed as ordinary,
  of_users and not delayed and commit_bit and stage in ('commit', 'due') as commits,
  of_users and delayed and commit_bit and reconsume_times = 0 as waiting,
  goes_to = 'TRANS_CHECK_MAX_TIME_TOPIC' as discarded,
  left(topic, 5) = '%DLQ%' as dead
from placed
