-- One row per journey that messages took: path (stages in store order, `retry 1`, joined by ` > `, at most 60 steps), messages, example (the least
-- UNIQ_KEY). At most 2,000, those of most messages first.
with steps as (
  select uniq_key, if(stage = 'retry', concat('retry ', coalesce(reconsume_times, 0)), stage) as step,
    row_number() over (partition by uniq_key order by store_timestamp nulls last, physical_offset) as nth
  from records where uniq_key is not null
), taken as (
  select uniq_key, bit_xor(xxhash64(step, nth)) as path from steps where nth <= 60 group by uniq_key
), counted as (
  select path, count(*) as messages, min(uniq_key) as example from taken group by path
  order by messages desc, example limit 2000
), named as (
  select c.example, array_join(transform(array_sort(collect_list(struct(s.nth, s.step))), x -> x.step), ' > ') as path
  from counted c join steps s on s.uniq_key = c.example
  where s.nth <= 60
  group by c.example
)
select n.path, c.messages, c.example
from counted c join named n on c.example = n.example
order by c.messages desc, n.path
