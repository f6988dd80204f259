-- One row per store, queue of a consumed topic and time bucket: root (folder above `commitlog`), time (begin of the bucket; records without a time are left
-- out), end (behind the greatest queue offset stored in it), begin (the least), step (s). Buckets are seconds, or as long as it takes for at most 7,200 of
-- them and 500,000 rows. Copies of offsets (`saved_offsets`) saved within a bucket of several seconds divide it, the first and last 32.
with stores as (
  select file, regexp_replace(file, '(^|/)(commitlog/)?[^/]*$', '') as root
  from files where kind in ('commitlog', 'dledger') and replica_of is null
), stored as (
  select s.root, m.topic, m.queue_id, m.queue_offset, unix_micros(m.store_timestamp) as at
  from messages_within m join (select distinct topic from offset_looks) c on m.topic = c.topic join stores s on m.file = s.file
  where m.store_timestamp is not null
), queues as (
  select root, topic, queue_id, min(at) as first, max(at) as last from stored group by root, topic, queue_id
), span as (
  select (max(last) - min(first)) / 1000000 as seconds, count(*) as queues from queues
), steps as (
  select cast(greatest(1, round(coalesce(seconds, 0) / 7200), ceil(coalesce(seconds, 0) * queues / 500000)) as bigint) as step from span
), saved as (
  select unix_micros(time) as at from saved_offsets where time is not null group by unix_micros(time)
), numbered as (
  select at, row_number() over (order by at) as nth, row_number() over (order by at desc) as nth_last from saved
), cuts as (
  select at - pmod(at, step * 1000000) as bucket, collect_list(at) as saved
  from numbered cross join steps where step > 1 and (nth <= 32 or nth_last <= 32) group by at - pmod(at, step * 1000000)
), bucketed as (
  select root, topic, queue_id, queue_offset, at, step, at - pmod(at, step * 1000000) as bucket from stored cross join steps
), placed as (
  select b.root, b.topic, b.queue_id, b.queue_offset, b.step, b.bucket, array_max(filter(c.saved, moment -> moment <= b.at)) as cut
  from bucketed b left join cuts c on b.bucket = c.bucket
)
select root, topic, queue_id, timestamp_micros(greatest(bucket, cut)) as time,
  case when max(queue_offset) < 9223372036854775807 then max(queue_offset) + 1 end as `end`, min(queue_offset) as begin, max(step) as step
from placed
group by root, topic, queue_id, greatest(bucket, cut)
order by root, topic, queue_id, time
