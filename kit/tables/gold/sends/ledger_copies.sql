-- One row per original that shares KEYS and body with another one, if a send ledger lists one of these keys: as in `sent_copies`.
with hashes as (
  select file, physical_offset, xxhash64(keys, body_crc, body_size) as same from originals where keys is not null
), twice as (
  select same from hashes group by same having count(*) > 1
), copies as (
  select o.keys as key, o.uniq_key, o.topic, o.queue_id, o.queue_offset, o.born_timestamp, o.store_timestamp, o.store_host, o.offset_msg_id,
    o.file, o.physical_offset, coalesce(o.property_REAL_TOPIC, o.topic) as real_topic, o.body_crc, o.body_size
  from hashes h join twice t on t.same = h.same join originals o on o.file = h.file and o.physical_offset = h.physical_offset
), parts as (
  select key as whole, explode(array_union(array(key), split(key, ' '))) as part from (select distinct key from copies) keys
), listed as (
  select distinct p.whole from parts p join (select distinct key from sends where key is not null) s on s.key = p.part
)
select c.* from copies c join listed l on l.whole = c.key
order by c.key, c.store_timestamp, c.offset_msg_id, c.file limit 200000
