-- One row per record or answer of the transactions in `transaction_examples`: uniq_key, key, stage (half, check, op, commit, discard, retry, dead letter,
-- stored, answer …), time, file, physical_offset or line, topic. At most 4,000 rows, in order of time.
-- Leaked retries and what waits for a delay are left out.
with stored as (
  select r.uniq_key, r.keys as key, r.store_timestamp as time, r.file, r.physical_offset, r.topic,
    case when r.topic = 'RMQ_SYS_TRANS_HALF_TOPIC' and r.property_REAL_TOPIC <> 'RMQ_SYS_TRANS_HALF_TOPIC' then
        case when r.property_TRANSACTION_CHECK_TIMES is not null or r.property_TRAN_PREPARED_QUEUE_OFFSET is not null then 'check' else 'half' end
      when r.topic = 'TRANS_CHECK_MAX_TIME_TOPIC' then 'discard' when left(r.topic, 5) = '%DLQ%' then 'dead letter'
      when left(r.topic, 7) = '%RETRY%' then 'retry'
      when r.sys_flag & 12 = 8 and r.topic <> 'SCHEDULE_TOPIC_XXXX' and lower(left(r.topic, 8)) <> 'rmq_sys_' then 'commit'
      when r.property_REAL_TOPIC is null then 'stored' end as stage
  from records r left semi join transaction_examples e on e.uniq_key = r.uniq_key
), shown as (
  select uniq_key, key, stage, time, file, physical_offset, cast(null as int) as line, topic from stored where stage is not null
  union all
  select t.uniq_key, t.keys, 'op', t.op_time, t.op_file, t.op_offset, null, 'RMQ_SYS_TRANS_OP_HALF_TOPIC'
  from transactions t left semi join transaction_examples e on e.uniq_key = t.uniq_key where t.op_offset is not null
  union all
  select a.uniq_key, null, concat('answer ', case when a.exception then 'exception' else a.said end), a.ts, a.file, null, a.line, ''
  from transaction_answers a left semi join transaction_examples e on e.uniq_key = a.uniq_key
)
select uniq_key, key, stage, time, file, physical_offset, line, topic from shown
order by time nulls first, physical_offset nulls first, line nulls first, file, uniq_key, stage limit 4000
