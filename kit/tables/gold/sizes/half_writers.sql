-- One row per broker with half messages: of its whole ones that no check put back whether any has MSG_REGION, __transactionId__, CLUSTER, or property
-- strings without a separator at the end (unseparated); release: one that writes like this, null if more than one rule of sizes fits. CLUSTER since 4.6.0,
-- MSG_REGION since 5.0.0, __transactionId__ since 5.1.0; no separator from 4.9.1 to 5.1.x (common/message/MessageDecoder).
with brokers as (
  select distinct file, broker from store_brokers
), marks as (
  select b.broker, bool_or(r.property_MSG_REGION is not null) as region, bool_or(r.property___transactionId__ is not null) as transaction_id,
    bool_or(r.property_CLUSTER is not null) as cluster,
    bool_or(coalesce(octet_length(r.properties_text), 0) + 1 = r.store_size - r.body_size - octet_length(r.topic) - 75
      - case when r.sys_flag & 16 <> 0 then 20 else 8 end - case when r.sys_flag & 32 <> 0 then 20 else 8 end) as unseparated
  from records r join brokers b on r.file = b.file
  where r.stage in ('half', 'check-back') and r.property_REAL_TOPIC is not null and r.uniq_key is not null and r.problem is null
    and r.property_TRANSACTION_CHECK_TIMES is null and r.property_TRAN_PREPARED_QUEUE_OFFSET is null
  group by b.broker
)
select *, case when region and transaction_id then '5.1.0' when region then '5.0.0' when not cluster then '4.5.2' when unseparated then '4.6.0' end as release
from marks order by broker
