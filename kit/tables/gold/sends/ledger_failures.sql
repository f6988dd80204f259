-- One row per send that a send ledger lists as failed. SendStatus other than SEND_OK is an answer: the master stored the message.
with texts as (
  select key, uniq_key, concat_ws(' ', nullif(outcome, ''), nullif(error, '')) as outcome, upper(trim(outcome)) as answer,
    unix_millis(start) as ts_ms, cost_ms, file, line
  from sends
)
select key, uniq_key, outcome, ts_ms, cost_ms, file, line from texts
where outcome rlike '(?i)exception|error|fail|timeout|busy|refus|code: ?[0-9]'
  and coalesce(answer, '') not in ('SEND_OK', 'FLUSH_DISK_TIMEOUT', 'SLAVE_NOT_AVAILABLE', 'FLUSH_SLAVE_TIMEOUT')
  and not outcome rlike 'SEND_OK|FLUSH_DISK_TIMEOUT|SLAVE_NOT_AVAILABLE|FLUSH_SLAVE_TIMEOUT'
order by file, line limit 400000
