-- At most one row: busy, how many responses with code 2 (SYSTEM_BUSY) the brokers counted in broker_traffic.log (5.1.0 and later), and the line with the
-- most of them (file, line). A slave is sent nothing: what it refuses are pulls (PullMessageProcessor, slaveReadEnable).
with counted as (
  select e.file, line, try_cast(regexp_extract(value_counts, '(?:^|[{, ])2:([0-9]{1,18})', 1) as bigint) as answers
  from events e left anti join (select file from file_brokers where slave) s on s.file = e.file where event = 'response-codes'
)
select sum(answers) over () as busy, file, line from counted where answers > 0 order by answers desc, file, line limit 1
