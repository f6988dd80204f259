-- The rows of `message_copies` with these UNIQ_KEYs (`keys`) or offset ids, in store order: the first 100,000. A message caught in a doubling half
-- topic has tens of thousands.
select * from message_copies
where array_contains(cast(:keys as array<string>), uniq_key) or array_contains(cast(:offset_ids as array<string>), offset_msg_id)
order by store_timestamp nulls last, file, physical_offset limit 100000
