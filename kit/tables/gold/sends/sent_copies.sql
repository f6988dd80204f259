-- One row per failed send and original that is its message, by key, else by UNIQ_KEY. What another cluster stored under the same key is another message.
with wanted as (
  select distinct f.identity, f.key, f.uniq_key, b.printed, b.broker from failed_sends f left join file_brokers b on b.file = f.file where not f.other
), of_key as (
  select distinct identity, key as name, printed, broker from wanted where key is not null
), of_id as (
  select distinct identity, uniq_key as name from wanted where key is null and uniq_key is not null
), named as (
  select file, physical_offset, explode(case when instr(keys, ' ') > 0 then array_union(array(keys), split(keys, ' ')) else array(keys) end) as name
  from originals where keys is not null
), places as (
  select w.identity, n.file, n.physical_offset from named n join of_key w on w.name = n.name left join file_brokers b on b.file = n.file
  where not coalesce(b.printed = w.printed and b.broker <> w.broker, false)
  union
  select w.identity, o.file, o.physical_offset from originals o join of_id w on w.name = o.uniq_key
)
select p.identity, o.keys as key, o.uniq_key, o.topic, o.queue_id, o.queue_offset, o.born_timestamp, o.store_timestamp, o.store_host,
  o.offset_msg_id, o.file, o.physical_offset, coalesce(o.property_REAL_TOPIC, o.topic) as real_topic, o.body_crc, o.body_size
from places p join originals o on o.file = p.file and o.physical_offset = p.physical_offset
order by p.identity, o.file, o.physical_offset limit 200000
