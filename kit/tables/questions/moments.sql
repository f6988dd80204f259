-- When the records with some ids or keys (`names`, joined by \u0002) were born and stored: name, at (ms). The first 40 of each.
with wanted as (select explode(split(:names, '\u0002')) as name),
named as (
  select w.name, m.born_timestamp, m.store_timestamp from wanted w join stored_messages m on m.uniq_key = w.name
  union all
  select w.name, m.born_timestamp, m.store_timestamp from wanted w join stored_messages m on m.offset_msg_id = w.name
  union all
  select w.name, m.born_timestamp, m.store_timestamp from wanted w join stored_messages m on m.keys = w.name
), moments as (
  select name, unix_millis(born_timestamp) as at from named
  union
  select name, unix_millis(store_timestamp) as at from named
), ranked as (
  select name, at, row_number() over (partition by name order by at) as nth from moments where at <> 0
)
select name, at from ranked where nth <= 40
