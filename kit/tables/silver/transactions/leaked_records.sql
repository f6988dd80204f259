-- stored as Parquet
-- One row per leaked record: half and schedule records whose REAL_TOPIC is the half topic itself, and those that were discarded in the end:
-- check_times (null before the first check), resent (boolean: RECONSUME_TIME is set), committed (boolean: it or an ancestor was committed), itself
-- (boolean: a commit itself wrote it: it names the record it ends; put-backs of a committed copy keep the bit, not the name), place (half, schedule,
-- discarded). No producer writes such a record. A consumer older than 4.6.1 does, when its send-back is refused and it sends the message anew with
-- TRAN_MSG and a delay still set (client/impl/consumer/DefaultMQPushConsumerImpl.sendMessageBack): the broker takes it for a half message and the
-- delay diverts it into SCHEDULE_TOPIC_XXXX, which overwrites REAL_TOPIC. A leaked record that is discarded goes through SCHEDULE as well.
with marked as (
  select file, physical_offset, store_timestamp, store_host, born_timestamp, born_host, topic, queue_offset, reconsume_times, uniq_key,
    property_REAL_TOPIC as real_topic, property_RECONSUME_TIME is not null as resent, sys_flag & 12 = 8 as committed,
    case when property_TRANSACTION_CHECK_TIMES rlike '^[0-9]{1,9}$' then try_cast(property_TRANSACTION_CHECK_TIMES as int) end as check_times,
    topic = 'SCHEDULE_TOPIC_XXXX' and sys_flag & 12 = 8 and prepared_transaction_offset <> 0 as itself,
    case when property_REAL_TOPIC = 'TRANS_CHECK_MAX_TIME_TOPIC' then 'discarded' when topic = 'RMQ_SYS_TRANS_HALF_TOPIC' then 'half' else 'schedule' end as place
  from records
  where property_TRAN_MSG = 'true' and property_DELAY is not null and (
    topic in ('RMQ_SYS_TRANS_HALF_TOPIC', 'SCHEDULE_TOPIC_XXXX') and property_REAL_TOPIC = 'RMQ_SYS_TRANS_HALF_TOPIC'
    or topic in ('SCHEDULE_TOPIC_XXXX', 'TRANS_CHECK_MAX_TIME_TOPIC') and property_REAL_TOPIC = 'TRANS_CHECK_MAX_TIME_TOPIC'
  )
), births as (
  -- All copies of a message keep when and at which client it was born: of two keys with one birth, that of 100 times fewer records has a flipped bit.
  select born_timestamp, born_host, uniq_key, count(*) as n from marked
  where born_timestamp is not null and born_host is not null and uniq_key is not null
  group by born_timestamp, born_host, uniq_key
), damaged as (
  select uniq_key, min(undamaged) as undamaged from (
    select uniq_key, n, first_value(uniq_key) over (partition by born_timestamp, born_host order by n desc, uniq_key desc) as undamaged,
      max(n) over (partition by born_timestamp, born_host) as most
    from births
  ) where n * 100 < most group by uniq_key
)
select file, physical_offset, store_timestamp, store_host, topic, queue_offset, reconsume_times, coalesce(d.undamaged, m.uniq_key) as uniq_key, real_topic,
  check_times, resent, committed, itself, place
from marked m left join damaged d on d.uniq_key = m.uniq_key
