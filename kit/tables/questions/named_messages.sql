-- One row per id (`ids`) and message it names, by UNIQ_KEY, offset id, key or all keys as they stand, or as the copy that it was made from: asked, name (the UNIQ_KEY, or the
-- offset id of a copy that lost it). `upper`: the ids in upper case; `offsets`: those in offset ids; `trace_names`: topics whose records name others.
-- Ids and keys are looked for apart: statistics of the stored records leave out most of them by their ids, and keys are split only where there are several.
with named as (
  select uniq_key, offset_msg_id, null as keys, property_ORIGIN_MESSAGE_ID as origin, if((sys_flag & 12) = 8,
    concat(left(offset_msg_id, length(offset_msg_id) - 16), lpad(hex(prepared_transaction_offset), 16, '0')), null) as half from records
  where stage <> 'op' and not array_contains(:trace_names, topic) and (
    array_contains(:ids, uniq_key) or array_contains(:upper, uniq_key) or array_contains(:upper, offset_msg_id)
    or array_contains(:upper, property_ORIGIN_MESSAGE_ID) or array_contains(cast(:offsets as array<bigint>), prepared_transaction_offset))
  union all
  select uniq_key, offset_msg_id, concat(array(keys), split(keys, r'[ \t\n\r\f\x0B]+')), null, null from records
  where stage <> 'op' and not array_contains(:trace_names, topic)
    and case when keys rlike r'[ \t\n\r\f\x0B]' then array_contains(:ids, keys) or arrays_overlap(split(keys, r'[ \t\n\r\f\x0B]+'), :ids)
    else array_contains(:ids, keys) end
)
select distinct asked, coalesce(uniq_key, offset_msg_id) as name from (select explode(:ids) as asked) join named
  on upper(asked) in (uniq_key, offset_msg_id, origin, half) or asked = uniq_key or array_contains(keys, asked)
order by asked, name
