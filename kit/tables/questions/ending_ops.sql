-- One row per op record that names one of these offsets of the half queue (`queue_offsets`), each once and in store order.
select distinct o.file, o.physical_offset, o.offset_msg_id, o.queue_id, o.store_timestamp, o.half_queue_offset, b.broker
from ops o join store_brokers b on o.file = b.file
where o.queue_id = 0 and array_contains(cast(:queue_offsets as array<bigint>), o.half_queue_offset)
order by o.store_timestamp nulls last, o.physical_offset, o.file
