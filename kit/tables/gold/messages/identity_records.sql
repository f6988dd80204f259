-- One row per copy of a message that shows what ids do: the first three handled twice, the one with the longest journey, those that were looked up.
-- Columns of `message_copies`. At most 300 copies of each of at most 104 messages, in store order.
with longest as (
  select example as uniq_key from journeys order by size(split(path, ' > ')) desc, messages desc, path limit 1
), twice as (
  select uniq_key from handled_twice where coalesce(same, true) order by time nulls first, uniq_key, consumer limit 3
), looked_up as (
  select id as uniq_key from known_ids where kind = 'uniq' order by id limit 100
), wanted as (
  select uniq_key from longest union select uniq_key from twice union select uniq_key from looked_up
), numbered as (
  select c.*, row_number() over (
    partition by c.uniq_key order by c.store_timestamp nulls last, coalesce(c.store_host, ''), c.physical_offset) as nth
  from message_copies c left semi join wanted w on c.uniq_key = w.uniq_key
)
select * from numbered where nth <= 300
order by store_timestamp nulls last, coalesce(store_host, ''), physical_offset, file
