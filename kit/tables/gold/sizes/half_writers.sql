-- One row per broker with half messages: broker, and of its first 1,000 that no check put back whether any has MSG_REGION (region), __transactionId__
-- (transaction_id), CLUSTER (cluster), or property strings without a separator at the end (unseparated); release: one that writes like this, null if
-- more than one rule of sizes fits. At most one row a broker.
-- CLUSTER since 4.6.0, MSG_REGION since 5.0.0, __transactionId__ since 5.1.0; no separator from 4.9.1 to 5.1.x (common/message/MessageDecoder).
with brokers as (
  select distinct file, broker from store_brokers
), first as (
  select b.broker, r.property_MSG_REGION, r.property___transactionId__, r.property_CLUSTER, octet_length(r.properties_text) as text_bytes,
    r.store_size - r.body_size - octet_length(r.topic) - 75 - case when r.sys_flag & 16 <> 0 then 20 else 8 end
      - case when r.sys_flag & 32 <> 0 then 20 else 8 end as stored_bytes,
    row_number() over (partition by b.broker order by r.physical_offset, r.file) as nth
  from records r join brokers b on r.file = b.file
  where r.stage in ('half', 'check-back') and r.property_REAL_TOPIC is not null and r.uniq_key is not null
    and r.property_TRANSACTION_CHECK_TIMES is null and r.property_TRAN_PREPARED_QUEUE_OFFSET is null
), marks as (
  select broker, bool_or(property_MSG_REGION is not null) as region, bool_or(property___transactionId__ is not null) as transaction_id,
    bool_or(property_CLUSTER is not null) as cluster, bool_or(coalesce(text_bytes, 0) + 1 = stored_bytes) as unseparated
  from first where nth <= 1000 group by broker
)
select *, case when region and transaction_id then '5.1.0' when region then '5.0.0' when not cluster then '4.5.2' when unseparated then '4.6.0' end as release
from marks order by broker
