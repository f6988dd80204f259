-- One row per kind of half message that transaction.log prints as discarded: leaked (boolean: its real topic is the half topic), lines, messages
-- (distinct UNIQ_KEYs), born (the earliest of them), first, last (time), file, line (of the first), commits (COMMIT answers of checks of these messages), commit_ts, commit_file,
-- commit_line (the first), unknown_messages (messages with UNKNOWN answers), unknowns (these answers), unknown_file, unknown_line (the first). At most 2 rows.
-- DefaultTransactionalMessageCheckListener.resolveDiscardMsg prints the whole message, EndTransactionProcessor the answers by UNIQ_KEY.
with printed as (
  select file, line, ts, message like '%REAL_TOPIC=RMQ_SYS_TRANS_HALF_TOPIC%' as leaked,
    timestamp_millis(try_cast(regexp_extract(message, 'bornTimestamp=([0-9]{13})', 1) as bigint)) as born,
    nullif(upper(regexp_extract(message, '[{ ]UNIQ_KEY=([0-9A-Fa-f]{32,56})', 1)), '') as uniq_key
  from entries where array_contains(events, 'check-discard')
), discarded as (
  select distinct leaked, uniq_key from printed where uniq_key is not null
), answers as (
  select m.leaked, count_if(answer = 'COMMIT') as commits, count_if(answer = 'UNKNOWN') as unknowns,
    count(distinct case when answer = 'UNKNOWN' then a.uniq_key end) as unknown_messages,
    min(case when answer = 'COMMIT' then struct(ts is null as undated, ts, file, line) end) as commit,
    min(case when answer = 'UNKNOWN' then struct(ts is null as undated, ts, file, line) end) as unsure
  from discarded m join transaction_answers a on a.uniq_key = m.uniq_key where a.from_check group by m.leaked
), discards as (
  select leaked, count(*) as lines, count(distinct uniq_key) as messages, min(born) as born, min(ts) as first, max(ts) as last,
    min(struct(ts is null as undated, ts, file, line)) as place
  from printed group by leaked
)
select d.leaked, d.lines, d.messages, d.born, d.first, d.last, d.place.file as file, d.place.line as line, coalesce(a.commits, 0) as commits,
  a.commit.ts as commit_ts, a.commit.file as commit_file, a.commit.line as commit_line, coalesce(a.unknown_messages, 0) as unknown_messages,
  coalesce(a.unknowns, 0) as unknowns, a.unsure.file as unknown_file, a.unsure.line as unknown_line
from discards d left join answers a on a.leaked = d.leaked
order by d.leaked
