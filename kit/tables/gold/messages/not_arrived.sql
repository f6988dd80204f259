-- One row per copy that waited for a delay and whose next step never came, though it was due two seconds before the evidence ends: uniq_key,
-- offset_msg_id, file, physical_offset, store_timestamp, stage, target (the topic it should have reached), due. At most 5,000, the longest due first.
-- ScheduleMessageService: queue n of SCHEDULE_TOPIC_XXXX is level n + 1; TIMER_OUT_MS is when a copy on the timer wheel is due (TimerMessageStore).
with waiting as (
  select r.id, r.uniq_key, r.offset_msg_id, r.file, r.physical_offset, r.store_timestamp, r.stage, r.property_REAL_TOPIC as target,
    r.reconsume_times,
    case when r.topic <> 'rmq_sys_wheel_timer' then timestamp_micros(unix_micros(r.store_timestamp) + l.seconds * 1000000)
      when r.property_TIMER_OUT_MS rlike '^[0-9]{1,13}$' and try_cast(r.property_TIMER_OUT_MS as bigint) <= 9214646399999
      then timestamp_millis(try_cast(r.property_TIMER_OUT_MS as bigint)) end as due
  from records r left join delay_levels l on r.queue_id + 1 = l.level
  where r.stage = 'schedule' and r.uniq_key is not null
), arrived as (
  select r.id, r.topic, r.reconsume_times, count(*) as copies
  from records r left semi join waiting w on r.id = w.id
  where r.stage in ('due', 'retry', 'dlq', 'original', 'commit')
  group by r.id, r.topic, r.reconsume_times
), numbered as (
  select w.*, row_number() over (partition by w.id, w.target, w.reconsume_times order by w.store_timestamp nulls last, w.physical_offset) as nth
  from waiting w
)
select n.uniq_key, n.offset_msg_id, n.file, n.physical_offset, n.store_timestamp, n.stage, n.target, n.due
from numbered n
  left join arrived a on n.id = a.id and n.target = a.topic and n.reconsume_times = a.reconsume_times
  cross join last_stored e
where n.nth > coalesce(a.copies, 0) and unix_micros(n.due) + 2000000 < unix_micros(e.last)
order by n.due, n.offset_msg_id, n.file, n.physical_offset
limit 5000
