-- The copies of a message :key around one of them, :offset_msg_id, in store order; those without a time come last.
with copies as (
  select store_timestamp, stage, topic, offset_msg_id, file, physical_offset,
    row_number() over (order by store_timestamp nulls last, file, physical_offset) as nth
  from records where uniq_key = :key
)
select c.* from copies c join (select min(nth) as nth from copies where offset_msg_id = :offset_msg_id) m
  on c.nth between m.nth - 10 and m.nth + 10
order by c.nth
