-- One row per original, not of a transaction, whose UNIQ_KEY is stored more than once for one topic with one body: the columns of `sent_copies`
-- without identity, and properties_text. At most 200,000. A client's retry keeps UNIQ_KEY and body (DefaultMQProducerImpl.sendDefaultImpl); messages
-- of one batch, in one queue and born together, have the UNIQ_KEY of the batch from 4.8.0 to 5.3.3 (MessageExtEncoder.encode, issues 2330, 9416).
with hashes as (
  select file, physical_offset, xxhash64(uniq_key, coalesce(property_REAL_TOPIC, topic), body_crc, body_size) as same,
    xxhash64(born_timestamp, store_host, queue_id) as attempt
  from originals where uniq_key is not null and (sys_flag & 12) = 0
), twice as (
  select same from hashes group by same having min(attempt) <> max(attempt)
)
select o.keys as key, o.uniq_key, o.topic, o.queue_id, o.queue_offset, o.born_timestamp, o.store_timestamp, o.store_host, o.offset_msg_id,
  o.file, o.physical_offset, coalesce(o.property_REAL_TOPIC, o.topic) as real_topic, o.body_crc, o.body_size, o.properties_text
from hashes h join twice t on t.same = h.same join originals o on o.file = h.file and o.physical_offset = h.physical_offset
order by o.uniq_key, o.store_timestamp, o.offset_msg_id, o.file limit 200000
