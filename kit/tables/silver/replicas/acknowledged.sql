-- One row per send that was answered SEND_OK: host (the store host as the offset id has it), position; both of a batch's first message. An offset id is the
-- address (4 or 16 bytes), the port (4) and the physical offset (8) of a record, in hexadecimal (MessageDecoder.createMessageId).
with answered as (
  select file, line, key, uniq_key, offset_msg_id, start, upper(trim(substring_index(offset_msg_id, ',', 1))) as id
  from sends where upper(trim(outcome)) = 'SEND_OK'
)
select file, line, key, uniq_key, offset_msg_id, start, case when named then left(id, length(id) - 16) end as host,
  case when named then right(id, 16) end as position
from (select *, id rlike '^([0-9A-F]{32}|[0-9A-F]{56})$' as named from answered) checked
