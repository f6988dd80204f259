-- One row per kind of half message that transaction.log prints as discarded: leaked (its real topic is the half topic), born (the earliest of its
-- messages), place of the first line, commits and unknowns (answers COMMIT and UNKNOWN of checks of these messages, each with its first line).
-- DefaultTransactionalMessageCheckListener.resolveDiscardMsg prints the whole message, EndTransactionProcessor the answers by UNIQ_KEY.
with printed as (
  select file, line, ts, message like '%REAL_TOPIC=RMQ_SYS_TRANS_HALF_TOPIC%' as leaked,
    timestamp_millis(try_cast(regexp_extract(message, 'bornTimestamp=([0-9]{13})', 1) as bigint)) as born,
    nullif(upper(regexp_extract(message, '[{ ]UNIQ_KEY=([0-9A-Fa-f]{32,56})', 1)), '') as uniq_key
  from entries where known in ('check-discard', '*') and array_contains(events, 'check-discard')
), by_message as (
  select leaked, uniq_key, count(*) as lines, min(born) as born, min(ts) as first, max(ts) as last, min(struct(ts is null as undated, ts, file, line)) as place
  from printed group by leaked, uniq_key
), answers as (
  select uniq_key, count_if(answer = 'COMMIT') as commits, count_if(answer = 'UNKNOWN') as unknowns,
    min(case when answer = 'COMMIT' then struct(ts is null as undated, ts, file, line) end) as commit,
    min(case when answer = 'UNKNOWN' then struct(ts is null as undated, ts, file, line) end) as unsure
  from transaction_answers where from_check group by uniq_key
), discards as (
  select m.leaked, sum(m.lines) as lines, count(m.uniq_key) as messages, min(m.born) as born, min(m.first) as first, max(m.last) as last,
    min(m.place) as place, coalesce(sum(a.commits), 0) as commits, min(a.commit) as commit, count_if(a.unknowns > 0) as unknown_messages,
    coalesce(sum(a.unknowns), 0) as unknowns, min(a.unsure) as unsure
  from by_message m left join answers a on a.uniq_key = m.uniq_key group by m.leaked
)
select leaked, lines, messages, born, first, last, place.file as file, place.line as line, commits, commit.ts as commit_ts, commit.file as commit_file,
  commit.line as commit_line, unknown_messages, unknowns, unsure.file as unknown_file, unsure.line as unknown_line
from discards order by leaked
