-- What decides first: the last columns may need scrolling.
select store_timestamp, topic, translate(properties_text, '\u0001\u0002', '=,') as properties, sys_flag, reconsume_times,
  prepared_transaction_offset, uniq_key, offset_msg_id, store_size
from records where {condition} order by file, physical_offset limit :most
