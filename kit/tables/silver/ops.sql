-- stored as Parquet
-- One row for each half message that an op record ends. The body is `17` in 4.x and `17,18,` from 5.1.0 (TransactionalMessageServiceImpl).
with listed as (
  select file, physical_offset, offset_msg_id, queue_id, store_timestamp, tags,
    explode(split(rtrim(',', cast(body as string)), ',')) as named
  from records
  where topic = 'RMQ_SYS_TRANS_OP_HALF_TOPIC'
)
select file, physical_offset, offset_msg_id, queue_id, store_timestamp,
  case when named rlike '^[0-9]{1,18}$' then try_cast(named as bigint) end as half_queue_offset, tags
from listed
