-- At most one row: busy, how many responses with code 2 (SYSTEM_BUSY) brokers counted, and the line with the most. What a slave refuses are pulls.
with counted as (
  select e.file, line, try_cast(regexp_extract(value_counts, '(?:^|[{, ])2:([0-9]{1,18})', 1) as bigint) as answers
  from events e left anti join (select file from file_brokers where slave) s on s.file = e.file where event = 'response-codes'
)
select sum(answers) over () as busy, file, line from counted where answers > 0 order by answers desc, file, line limit 1
