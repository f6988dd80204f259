-- One row per record or answer of the transactions in `transaction_examples`: path, uniq_key, key, stage (half, check, op, commit, discard, retry,
-- dead letter, stored, answer …), time, seconds (since the first half record), file, physical_offset or line, topic. At most 4,000 rows, the earliest,
-- by path, message and time. The broker's log knows whole seconds only: within one, things are in the order in which they happen.
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
), steps as (
  select uniq_key, key, stage, time, file, physical_offset, cast(null as int) as line, topic from stored where stage is not null
  union all
  select t.uniq_key, t.keys, 'op', t.op_time, t.op_file, t.op_offset, null, 'RMQ_SYS_TRANS_OP_HALF_TOPIC'
  from transactions t left semi join transaction_examples e on e.uniq_key = t.uniq_key where t.op_offset is not null
  union all
  select a.uniq_key, null, concat('answer ', case when a.exception then 'exception' else a.answer end), a.ts, a.file, null, a.line, ''
  from transaction_answers a left semi join transaction_examples e on e.uniq_key = a.uniq_key
), earliest as (
  select * from steps order by time nulls first, physical_offset nulls first, line nulls first, file, uniq_key, stage limit 4000
), begun as (
  select uniq_key, min(time) as begin from earliest where stage = 'half' group by uniq_key
), placed as (
  select e.path, t.uniq_key, e.keys as key, t.stage, t.time, greatest(round((unix_micros(t.time) - unix_micros(b.begin)) / 1000000D, 3), 0D) as seconds,
    t.file, t.physical_offset, t.line, t.topic, min(e.place) over (partition by e.path) as place,
    case t.stage when 'half' then 0 when 'stored' then 0 when 'check' then 1 when 'commit' then 3 when 'op' then 4 when 'discard' then 5 when 'retry' then 6
      when 'dead letter' then 7 else 2 end as nth
  from earliest t join transaction_examples e on e.uniq_key = t.uniq_key left join begun b on b.uniq_key = t.uniq_key
)
select path, uniq_key, key, stage, time, seconds, file, physical_offset, line, topic from placed
order by place, uniq_key, date_trunc('second', time) nulls last, nth, time nulls last, physical_offset nulls first, line nulls first, file, stage
