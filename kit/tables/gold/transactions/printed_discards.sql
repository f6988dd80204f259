-- One row per kind of half message that transaction.log prints as discarded: leaked (boolean: its real topic is the half topic), lines, messages
-- (distinct UNIQ_KEYs), born (the earliest of them), first, last (time), file, line (of the first), commits (COMMIT answers of checks of these messages), commit_file, commit_line
-- (the first), unknown_messages (messages with UNKNOWN answers), unknowns (these answers), unknown_file, unknown_line (the first). At most 2 rows.
-- DefaultTransactionalMessageCheckListener.resolveDiscardMsg prints the whole message, EndTransactionProcessor the answers by UNIQ_KEY.
with printed as (
  select file, line, ts, message like '%REAL_TOPIC=RMQ_SYS_TRANS_HALF_TOPIC%' as leaked,
    timestamp_millis(try_cast(regexp_extract(message, 'bornTimestamp=([0-9]{13})', 1) as bigint)) as born,
    nullif(upper(regexp_extract(message, '[{ ]UNIQ_KEY=([0-9A-Fa-f]{32,56})', 1)), '') as uniq_key
  from entries where array_contains(events, 'check-discard')
), discarded as (
  select distinct leaked, uniq_key from printed where uniq_key is not null
), answered as (
  select m.leaked, a.answer, a.uniq_key, a.file, a.line,
    row_number() over (partition by m.leaked, a.answer order by a.ts nulls last, a.file, a.line) as nth
  from discarded m join transaction_answers a on a.uniq_key = m.uniq_key
  where a.from_check
), answers as (
  select leaked, count_if(answer = 'COMMIT') as commits, count_if(answer = 'UNKNOWN') as unknowns,
    count(distinct case when answer = 'UNKNOWN' then uniq_key end) as unknown_messages,
    max(case when answer = 'COMMIT' and nth = 1 then file end) as commit_file, max(case when answer = 'COMMIT' and nth = 1 then line end) as commit_line,
    max(case when answer = 'UNKNOWN' and nth = 1 then file end) as unknown_file, max(case when answer = 'UNKNOWN' and nth = 1 then line end) as unknown_line
  from answered group by leaked
), numbered as (
  select *, row_number() over (partition by leaked order by ts nulls last, file, line) as nth from printed
), discards as (
  select leaked, count(*) as lines, count(distinct uniq_key) as messages, min(born) as born, min(ts) as first, max(ts) as last,
    max(case when nth = 1 then file end) as file, max(case when nth = 1 then line end) as line
  from numbered group by leaked
)
select d.leaked, d.lines, d.messages, d.born, d.first, d.last, d.file, d.line, coalesce(a.commits, 0) as commits, a.commit_file, a.commit_line,
  coalesce(a.unknown_messages, 0) as unknown_messages, coalesce(a.unknowns, 0) as unknowns, a.unknown_file, a.unknown_line
from discards d left join answers a on a.leaked = d.leaked
order by d.leaked
