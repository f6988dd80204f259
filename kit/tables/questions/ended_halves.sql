-- One row per half record that the op record with an offset id (one of `ids`) ended: asked, uniq_key. In order of file and offset.
select asked, h.uniq_key
from (select explode(:ids) as asked) join ops o on upper(asked) = o.offset_msg_id
  join (select distinct file, broker from store_brokers) b on o.file = b.file
  join records h on h.queue_offset = o.half_queue_offset
  join (select distinct file, broker from store_brokers) c on h.file = c.file and b.broker = c.broker
where o.queue_id = 0
  and h.stage in ('half', 'check-back') and h.uniq_key is not null and h.property_REAL_TOPIC is not null
order by h.file, h.physical_offset
