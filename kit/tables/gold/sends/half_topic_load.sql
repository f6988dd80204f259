-- One row for each of the first two records that the half topic wrote to itself while sends failed or the broker stalled (and a second around it):
-- file, physical_offset, store_timestamp, leaked (how many such records), stored (how many of any kind).
-- A leaked half record: topic and REAL_TOPIC are the half topic, or it is on its way there or to the discarded ones
-- (TransactionalMessageBridge.parseHalfMessageInner, ScheduleMessageService); at most 2 rows.
with during as (
  select r.file, r.physical_offset, r.store_timestamp,
    coalesce(((r.topic in ('RMQ_SYS_TRANS_HALF_TOPIC', 'SCHEDULE_TOPIC_XXXX') and r.property_REAL_TOPIC = 'RMQ_SYS_TRANS_HALF_TOPIC')
      or (r.topic in ('SCHEDULE_TOPIC_XXXX', 'TRANS_CHECK_MAX_TIME_TOPIC') and r.property_REAL_TOPIC = 'TRANS_CHECK_MAX_TIME_TOPIC'))
      and r.property_TRAN_MSG = 'true' and r.property_DELAY is not null, false) as leaks
  from records r cross join busy_window w
  where unix_millis(r.store_timestamp) between w.start_ms - 1000 and w.end_ms + 1000
), totals as (
  select count_if(leaks) as leaked, count(*) as stored from during
)
select d.file, d.physical_offset, d.store_timestamp, t.leaked, t.stored
from during d cross join totals t where d.leaks order by d.store_timestamp, d.file, d.physical_offset limit 2
