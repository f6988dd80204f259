-- One row if check listeners answered COMMIT for leaked records (the answer contains the schedule record's offset): answers, file, line (the first).
with fitting as (
  select a.ts, a.file, a.line from transaction_answers a
  left semi join (select * from leaked_records where topic = 'SCHEDULE_TOPIC_XXXX') l on l.physical_offset = a.commit_log_offset
  where a.from_check and a.answer = 'COMMIT'
)
select answers, file, line from (
  select count(*) over () as answers, file, line, row_number() over (order by ts nulls last, file, line) as nth from fitting
) where nth = 1
order by file, line
