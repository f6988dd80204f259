-- One row for each record that is a copy of a message (no op record): what a trace shows of it, and due: when its delay is over. ScheduleMessageService:
-- queue n of SCHEDULE_TOPIC_XXXX is level n + 1; TIMER_OUT_MS is when a copy on the timer wheel is due (TimerMessageStore).
select r.uniq_key, r.file, r.physical_offset, r.offset_msg_id, r.topic, r.stage, r.store_timestamp, r.store_size, r.queue_id, r.queue_offset,
  r.sys_flag, r.reconsume_times, r.prepared_transaction_offset, r.born_timestamp, r.born_host, r.store_host, r.keys, r.tags, r.consumer_group,
  r.property_REAL_TOPIC as real_topic, try_cast(r.property_TRANSACTION_CHECK_TIMES as bigint) as check_times,
  try_cast(r.property_DELAY as bigint) as delay_level, r.property_ORIGIN_MESSAGE_ID as origin_message_id,
  r.property_MIN_OFFSET is not null as resent, r.properties_text,
  case when r.stage <> 'schedule' then null
    when r.topic <> 'rmq_sys_wheel_timer' then timestamp_micros(unix_micros(r.store_timestamp) + l.seconds * 1000000)
    when r.property_TIMER_OUT_MS rlike '^[0-9]{1,13}$' and try_cast(r.property_TIMER_OUT_MS as bigint) <= 9214646399999
    then timestamp_millis(try_cast(r.property_TIMER_OUT_MS as bigint)) end as due
from records r left join delay_levels l on r.queue_id + 1 = l.level
where r.stage <> 'op'
