-- One row per half message and copy of one that a check put back (no leaked retry): `limit` (maxMessageSize there); in bytes the record of its next
-- put-back (next_size) and of the largest up to the check limit (last_size), what is not body of that (overhead) and its property string (last_properties);
-- why the broker refuses the next (next_refused) and the largest (refused), null if it stores it. A put-back adds TRANSACTION_CHECK_TIMES (25 bytes and the
-- digits of the count), within an immunity age TRAN_PREPARED_QUEUE_OFFSET as well (28 bytes and the digits of the offset) and WAIT=false for true. A record
-- is 91 bytes (115 with both hosts in IPv6), body, topic and properties. Source: store/CommitLog.calMsgLength,
-- broker/transaction/queue/TransactionalMessageBridge.renewHalfMessageInner, TransactionalMessageServiceImpl.check.
with brokers as (
  select distinct file, broker from store_brokers
), half as (
  select b.broker, r.file, r.physical_offset, r.store_timestamp, r.id, r.uniq_key, r.offset_msg_id, r.topic, r.property_REAL_TOPIC as real_topic,
    coalesce(r.queue_offset, 0) as queue_offset, coalesce(r.sys_flag, 0) as sys_flag, cast(coalesce(r.store_size, 0) as bigint) as store_size,
    cast(coalesce(r.body_size, 0) as bigint) as body_size, r.body_codec,
    case when r.property_TRANSACTION_CHECK_TIMES rlike '^[0-9]{1,9}$' then try_cast(r.property_TRANSACTION_CHECK_TIMES as int) else -1 end as times,
    r.property_CHECK_IMMUNITY_TIME_IN_SECONDS is not null and r.property_TRAN_PREPARED_QUEUE_OFFSET is null as immune
  from records r join brokers b on r.file = b.file
  where r.stage in ('half', 'check-back') and r.property_REAL_TOPIC is not null and r.uniq_key is not null
), limited as (
  select h.*, l.max_size, l.total_max, l.body_max, l.dledger_max, l.properties_max,
    case when l.raw_put_backs and h.body_codec <> 'none' then coalesce(w.raw_size, h.body_size) else h.body_size end as put_back_body,
    h.store_size - h.body_size as rest,
    h.store_size - h.body_size - octet_length(h.topic) - 75 - case when h.sys_flag & 16 <> 0 then 20 else 8 end
      - case when h.sys_flag & 32 <> 0 then 20 else 8 end as properties,
    length(cast(greatest(l.check_max, h.times) as string)) as last_digits,
    length(cast(greatest(h.times, 0) + 1 as string)) as next_digits,
    case when h.times < 0 then 25 else -length(cast(h.times as string)) end + case when h.immune then 29 + length(cast(h.queue_offset as string)) else 0 end
      as added
  from half h join size_limits l on h.broker = l.broker left join raw_half_bodies w
    on h.file = w.file and h.physical_offset = w.physical_offset
), grown as (
  select *, rest + added + last_digits as overhead, rest + put_back_body + added + last_digits as last_size,
    rest + put_back_body + added + next_digits as next_size, properties + added + last_digits as last_properties,
    properties + added + next_digits as next_properties
  from limited
)
select broker, file, physical_offset, store_timestamp, id, uniq_key, offset_msg_id, topic, real_topic, queue_offset, sys_flag, store_size, body_size,
  max_size as `limit`, put_back_body, next_size, last_size, overhead, last_properties,
  case when next_properties > properties_max then 'properties' when next_size > total_max then 'total' when put_back_body > body_max then 'body'
    when next_size > dledger_max then 'dledger' end as next_refused,
  case when last_properties > properties_max then 'properties' when last_size > total_max then 'total' when put_back_body > body_max then 'body'
    when last_size > dledger_max then 'dledger' end as refused
from grown
