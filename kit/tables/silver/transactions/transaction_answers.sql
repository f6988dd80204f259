-- One row per answer of a producer that the broker logged: address (of the producer), commit_log_offset (of the record named), exception (the remark
-- mentions one in the local transaction). transaction.log prints every answer except a plain COMMIT; the client catches an exception of the local
-- transaction and passes its text on as the remark of an UNKNOWN answer (EndTransactionProcessor, DefaultMQProducerImpl).
select upper(e.value_msg_id) as uniq_key, e.ts, e.file, e.line,
  case e.event when 'check-answer-commit' then 'COMMIT' when 'check-answer-rollback' then 'ROLLBACK' when 'end-transaction-rollback' then 'ROLLBACK'
    else 'UNKNOWN' end as answer,
  e.event like 'check-%' as from_check, e.value_address as address,
  case when e.value_commit_log_offset rlike '^[0-9]{1,18}$' then try_cast(e.value_commit_log_offset as bigint)
    end as commit_log_offset,
  x.file is not null as exception
from events e
left join (select distinct file, line from events where event = 'local-transaction-exception') x on x.file = e.file and x.line = e.line
where e.event in ('check-answer-commit', 'check-answer-rollback', 'check-answer-pending', 'end-transaction-rollback', 'end-transaction-pending')
  and e.value_msg_id is not null
