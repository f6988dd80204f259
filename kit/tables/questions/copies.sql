-- The rows of `message_copies` with these UNIQ_KEYs, or offset ids of copies that lost theirs (`names`), between two places (`first`, `last`: those of
-- `copy_places`), in store order: the first 100,000. A message caught in a doubling half topic has tens of thousands.
select * from message_copies where physical_offset between :first and :last
  and (array_contains(cast(:names as array<string>), uniq_key) or (uniq_key is null and array_contains(cast(:names as array<string>), offset_msg_id)))
order by store_timestamp nulls last, file, physical_offset limit 100000
