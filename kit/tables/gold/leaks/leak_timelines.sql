-- One row per record of the first 8 leaked messages: check_times (null before the first check), committed (boolean: written by a commit).
with begun as (
  select uniq_key, min(struct(rank, store_timestamp)) as first from (
    select uniq_key, 0 as rank, store_timestamp from leaked_records
    where place = 'schedule' and reconsume_times > 0 and resent and check_times is null
    union all
    select uniq_key, 1, store_timestamp from leaked_records where place = 'half'
  ) where uniq_key is not null group by uniq_key
), chosen as (
  select uniq_key, row_number() over (order by first.rank, first.store_timestamp, uniq_key) as message from begun
), places as (
  select r.file, r.physical_offset, c.message, row_number() over (partition by c.message order by r.store_timestamp, r.physical_offset, r.file) as nth
  from records r join chosen c on r.id = xxhash64(c.uniq_key) and r.uniq_key = c.uniq_key
  where c.message <= 8
)
select r.uniq_key, r.store_timestamp, r.file, r.physical_offset, r.topic, r.queue_id, r.queue_offset, r.offset_msg_id, r.sys_flag, r.reconsume_times,
  r.property_REAL_TOPIC as real_topic,
  case when r.property_TRANSACTION_CHECK_TIMES rlike '^[0-9]{1,9}$' then try_cast(r.property_TRANSACTION_CHECK_TIMES as int) end as check_times,
  r.sys_flag & 12 = 8 and (r.topic <> 'SCHEDULE_TOPIC_XXXX' or r.prepared_transaction_offset <> 0) as committed
from places p join records r on r.file = p.file and r.physical_offset = p.physical_offset
where p.nth <= 300
order by p.message, p.nth
