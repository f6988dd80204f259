-- One row per put-back copy of a compressed half message, still flagged as compressed, whose stored body differs from the original's: again (its check
-- count was written before). 4.3.0–4.5.2 unpacked the body on reading: broker/transaction/queue/TransactionalMessageBridge.decodeMsgList.
with packed as (
  select id, uniq_key, file, physical_offset, store_timestamp, body_crc, body_size, property_TRANSACTION_CHECK_TIMES as checks,
    property_TRANSACTION_CHECK_TIMES is not null or property_TRAN_PREPARED_QUEUE_OFFSET is not null as renewed
  from records
  where stage in ('half', 'check-back') and property_REAL_TOPIC is not null and uniq_key is not null and sys_flag & 1 <> 0
), written as (
  select id, min(body_crc) as body_crc, min(body_size) as body_size from packed where not renewed group by id
)
select uniq_key, file, physical_offset, store_timestamp, nth > 1 as again from (
  select p.uniq_key, p.file, p.physical_offset, p.store_timestamp, p.body_crc <> o.body_crc or p.body_size <> o.body_size as differs,
    row_number() over (partition by p.id, p.checks order by p.physical_offset, p.file) as nth
  from packed p join written o on o.id = p.id where p.renewed
) where differs
order by physical_offset, file limit 100000
