-- One row: where the copies of `copies` lie, first, last (physical offsets; null where there are none). It reads two columns of all records; `copies`
-- reads all columns, but of the few stored stretches only that hold these places.
select min(physical_offset) as first, max(physical_offset) as last from records
where stage <> 'op' and (array_contains(cast(:names as array<string>), uniq_key)
  or (uniq_key is null and array_contains(cast(:names as array<string>), offset_msg_id)))
