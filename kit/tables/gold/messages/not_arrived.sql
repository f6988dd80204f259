-- One row per copy that waited for a delay and whose next step never came, though it was due two seconds before the evidence ends: uniq_key,
-- offset_msg_id, file, physical_offset, store_timestamp, stage, target (the topic it should have reached), due. At most 5,000, the longest due first.
-- ScheduleMessageService writes a copy into its target topic when its delay is over.
with waiting as (
  select id, uniq_key, offset_msg_id, file, physical_offset, store_timestamp, stage, real_topic as target, reconsume_times, due
  from message_copies where stage = 'schedule' and uniq_key is not null
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
  cross join (select max(last) as last from store_extent) e
where n.nth > coalesce(a.copies, 0) and unix_micros(n.due) + 2000000 < unix_micros(e.last)
order by n.due, n.offset_msg_id, n.file, n.physical_offset
limit 5000
