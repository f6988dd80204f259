-- One row per id by which an application says it tells messages apart, and its first two lines: id (upper case), lines (how many). The 10,000 earliest.
with named as (
  select upper(value_id) as id, ts, file, line from events where event = 'dedup-key'
), numbered as (
  select *, row_number() over (partition by id order by ts nulls first, file, line) as nth, count(*) over (partition by id) as lines
  from named where id is not null
)
select id, lines, ts, file, line from numbered where nth <= 2
order by ts nulls first, file, line limit 10000
