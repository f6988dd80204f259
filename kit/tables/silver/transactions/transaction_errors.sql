-- One row per text of a log that says what went wrong in the local step of a transaction: how (exception, or the status of a send that was not stored,
-- after which the client rolls back by itself). Exceptions of local transactions come from the client's log (4.x prints the message in an entry of its
-- own, within 60 lines behind the exception) and from the remarks in transaction.log.
with printed as (
  select e.event, e.ts, e.file, e.line, upper(e.value_msg_id) as uniq_key,
    lead(e.event) over (partition by e.file order by e.line, e.event) as next_event, lead(e.line) over (partition by e.file order by e.line, e.event) as next_line,
    lead(upper(e.value_msg_id)) over (partition by e.file order by e.line, e.event) as next_key
  from events e
  where e.event in ('local-transaction-exception', 'send-attempt-message') and e.source is not null and e.source not in ('transaction', 'broker')
), thrown as (
  select coalesce(p.uniq_key, case when p.next_event = 'send-attempt-message' and p.next_line <= p.line + coalesce(x.lines, 0) + 60 then p.next_key end)
    as uniq_key, p.ts, p.file, p.line
  from printed p left join entries x on x.file = p.file and x.line = p.line
  where p.event = 'local-transaction-exception'
)
select uniq_key, 'exception' as how, ts, file, line from thrown where uniq_key is not null
union all
select uniq_key, 'exception', ts, file, line from transaction_answers where exception
union all
select upper(value_msg_id), value_status, ts, file, line from events
where event = 'send-result' and value_status <> 'SEND_OK' and value_msg_id is not null
