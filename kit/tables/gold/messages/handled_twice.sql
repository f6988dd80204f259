-- One row per message and consumer that handled it successfully more than once, the later time from a retry copy, which has another offset id and the same
-- UNIQ_KEY: first_… (success), reconsume_times (of the next one), same (false: a retry of another stored message, which the producer sent twice or in one
-- batch, whose messages have one UNIQ_KEY from 4.8.0 to 5.3.3), and in all rows messages and messages_stored_once (without `same` false).
with named as (
  select *, xxhash64(consumer, uniq_key) as pair from deliveries where uniq_key is not null
), several as (
  select pair, count(distinct if(retry, null, offset_msg_id)) > 1 as differ
  from named group by pair having count_if(success) > 1
), numbered as (
  select g.*, s.differ, row_number() over (partition by g.pair order by coalesce(g.reconsume_times, 0), g.time nulls first, g.file, g.line) as nth
  from (select * from named where success) g join several s on g.pair = s.pair
), later as (
  select n.*, f.file as first_file, f.line as first_line, f.offset_msg_id as first_offset_msg_id, f.time as first_time,
    f.record_file as first_record_file, f.physical_offset as first_physical_offset, f.store_timestamp as first_store_timestamp,
    coalesce(n.origin = f.origin, if(n.differ, false, null)) as same,
    row_number() over (partition by n.pair order by n.time nulls first, n.file, n.line) as again
  from numbered n join numbered f on n.pair = f.pair
  where f.nth = 1 and n.retry and coalesce(n.reconsume_times, 1) > coalesce(f.reconsume_times, 0) and coalesce(n.key = f.key, true)
), marked as (
  select *, row_number() over (partition by uniq_key order by coalesce(same, true) desc, consumer) as nth_consumer
  from later where again = 1
)
select consumer, uniq_key, first_file, first_line, first_offset_msg_id, first_time, file, line, offset_msg_id, time, reconsume_times, same,
  first_record_file, first_physical_offset, first_store_timestamp, record_file, physical_offset, store_timestamp,
  sum(if(nth_consumer = 1, 1, 0)) over () as messages,
  sum(if(nth_consumer = 1 and coalesce(same, true), 1, 0)) over () as messages_stored_once
from marked
order by coalesce(same, true) desc, time nulls first, uniq_key, consumer limit 5000
