-- One row per copy that lost its UNIQ_KEY: offset_msg_id, origin (ORIGIN_MESSAGE_ID: the offset id of the copy it was made from), half (the offset id
-- of the half record that a commit was made from). The first 50,000 by place; none unless a client or a broker leaves the key out.
select offset_msg_id, origin_message_id as origin,
  if((sys_flag & 12) = 8 and prepared_transaction_offset > 0,
    concat(left(offset_msg_id, length(offset_msg_id) - 16), lpad(hex(prepared_transaction_offset), 16, '0')), null) as half
from message_copies where uniq_key is null
order by file, physical_offset limit 50000
