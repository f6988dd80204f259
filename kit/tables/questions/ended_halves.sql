-- One row per half record that one of the op records with these offset ids (`upper`) ended: op, uniq_key. In order of file and offset.
select o.offset_msg_id as op, h.uniq_key
from ops o
  join (select distinct file, broker from store_brokers) b on o.file = b.file
  join records h on h.queue_offset = o.half_queue_offset
  join (select distinct file, broker from store_brokers) c on h.file = c.file and b.broker = c.broker
where o.queue_id = 0 and array_contains(:upper, o.offset_msg_id)
  and h.stage in ('half', 'check-back') and h.uniq_key is not null and h.property_REAL_TOPIC is not null
order by h.file, h.physical_offset
