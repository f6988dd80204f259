-- One row per message that an id names, by UNIQ_KEY, offset id, key, or as the copy that it was made from: name (the UNIQ_KEY, or the offset id of a
-- copy that lost it). `upper`: the id in upper case; `offset`: the one in an offset id, else -1; `trace_names`: topics whose records name others.
-- Ids and keys are looked for apart: statistics of the stored records leave out most of them by their ids, and keys are split only where there are several.
with named as (
  select uniq_key, offset_msg_id from records
  where stage <> 'op' and not array_contains(:trace_names, topic) and (
    uniq_key in (:id, :upper) or offset_msg_id = :upper or property_ORIGIN_MESSAGE_ID = :upper
    or (prepared_transaction_offset = cast(:offset as bigint) and (sys_flag & 12) = 8
      and concat(left(offset_msg_id, length(offset_msg_id) - 16), lpad(hex(prepared_transaction_offset), 16, '0')) = :upper))
  union all
  select uniq_key, offset_msg_id from records
  where stage <> 'op' and not array_contains(:trace_names, topic)
    and case when keys rlike r'[ \t\n\r\f\x0B]' then array_contains(split(keys, r'[ \t\n\r\f\x0B]+'), :id) else keys = :id end
)
select distinct coalesce(uniq_key, offset_msg_id) as name from named order by name
