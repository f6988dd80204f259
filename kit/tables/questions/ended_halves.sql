-- One row per half record that the op record with an offset id (`id`) ended: uniq_key. In order of file and offset.
select h.uniq_key
from ops o
  join (select distinct file, broker from store_brokers) b on o.file = b.file
  join records h on h.queue_offset = o.half_queue_offset
  join (select distinct file, broker from store_brokers) c on h.file = c.file and b.broker = c.broker
where o.queue_id = 0 and o.offset_msg_id = :id
  and h.stage in ('half', 'check-back') and h.uniq_key is not null and h.property_REAL_TOPIC is not null
order by h.file, h.physical_offset
