-- One row per id by which an application says it tells messages apart, and its first two lines: id (upper case), lines (how many). The 10,000 earliest.
with numbered as (
  select upper(value_id) as id, ts, file, line, count(*) over (partition by upper(value_id)) as lines,
    row_number() over (partition by upper(value_id) order by ts nulls first, file, line) as nth
  from events where event = 'dedup-key' and value_id is not null
)
select id, lines, ts, file, line from numbered where nth <= 2
order by ts nulls first, file, line limit 10000
