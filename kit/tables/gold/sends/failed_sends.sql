-- One row per failed send that send ledgers report, or, without any, the logs of applications and clients: identity (by which a send counts once), source
-- (ledger, logs, client, app); other: a call of another sender than the ledger's, which counts among the errors only. None with more than 400,000 entries:
-- no figure is taken from them. The kind of a ledger's row is that of the final exception: as the row prints it, else from the application's log about that
-- key, else implied by the exception's class (remoting/exception: a client's own time-out whatever its text), else that of the last attempt in the client's
-- log. Calls of another sender count only with an id, where ledger and client log are seen to share ids, else every call would be counted twice. Without a
-- ledger the entries of applications and clients are matched by key or UNIQ_KEY. Entries without either may be the same sends: of each kind the longer list
-- counts. KEYS holds several keys with blanks between them (MessageConst.KEY_SEPARATOR).
with amount as (
  select count(*) <= 400000 as few from send_failures
), ledgers as (
  select count(*) > 0 as listed from sends
), reported as (
  select f.*, row_number() over (order by f.file, f.line) as entry from send_failures f cross join amount where role = 'call' and counts and few
), tokens as (
  select entry, explode(split(printed, '[ \\t\\r\\n\\f　,;，；：。、\\[\\](){}<>"\\x27（）【】]+')) as token from reported
), words as (
  -- A key is a word of an entry, or stands behind the last = or : of one.
  select entry, explode(array(token, substring_index(token, '=', -1), substring_index(token, ':', -1), regexp_replace(token, '[.:]+$', ''))) as word
  from tokens
), named as (
  select word, max(entry) as entry from words where word <> '' group by word
), names as (
  select call, explode(array_union(array(key), split(key, ' '))) as name from send_calls where key is not null
  union all
  select call, uniq_key as name from send_calls where uniq_key is not null
), called as (
  select name, max(call) as call from names where name <> '' group by name
), printed as (
  select l.*, regexp_extract(outcome, '\\[(?:REJECTREQUEST|OVERLOAD|PC_SYNCHRONIZED|PCBUSY_CLEAN_QUEUE|TIMEOUT_CLEAN_QUEUE)|(?:broker|system) busy, start flow control for a while', 0) as refusal
  from ledger_failures l cross join amount where few
), rows_of_ledgers as (
  select p.*, coalesce(i.call, k.call) as call, coalesce(a.entry, u.entry) as entry,
    case when startswith(refusal, '[') then substring(refusal, 2) when refusal <> '' then 'OTHER'
      when outcome rlike 'wait response on the channel|Send message to broker timeout, |(?:send(?:Default|Kernel|Select)Impl|sendMessage|DEFAULT ASYNC send|asyncSend) call timeout|call timeout, cost time'
        then 'CLIENT_TIMEOUT'
      when outcome rlike 'CODE: ?[0-9]|RemotingConnectException|connect to \\S+ failed' then 'OTHER' end as printed,
    case when outcome rlike 'RemotingTimeoutException|RemotingTooMuchRequestException' then 'CLIENT_TIMEOUT' end as thrown
  from printed p
    left join called i on i.name = p.uniq_key left join called k on k.name = p.key
    left join named a on a.word = p.key left join named u on u.word = p.uniq_key
), shared as (
  select call, true as shared from rows_of_ledgers where call is not null group by call
), pairs as (
  select n.call, max(e.entry) as entry from names n join named e on e.word = n.name group by n.call
), calls as (
  select c.*, p.entry, coalesce(t.kind, c.kind) as final, count_if(p.entry is null) over (partition by c.kind) as alone
  from send_calls c left join pairs p on p.call = c.call left join reported t on t.entry = p.entry
), client as (
  select kind, max(alone) as n from calls group by kind
), app as (
  select t.*, row_number() over (partition by t.key, t.uniq_key order by t.entry desc) as again,
    row_number() over (partition by t.kind, t.key is null and t.uniq_key is null order by t.entry) as nth
  from reported t left anti join pairs p on p.entry = t.entry
), failed as (
  select 1 as part, r.key, r.uniq_key, coalesce(r.printed, t.kind, r.thrown, c.kind) as kind, r.outcome, cast(r.ts_ms as double) as ts, r.cost_ms, c.attempts,
    'ledger' as source, r.file, r.line, false as other
  from rows_of_ledgers r left join reported t on t.entry = r.entry left join send_calls c on c.call = r.call
  union all
  select 5 as part, c.key, c.uniq_key, c.kind, null as outcome, c.ts, null as cost_ms, c.attempts, null as source, c.file, c.line, true as other
  from send_calls c cross join (select count(*) as n from shared) m left anti join shared s on s.call = c.call
  where m.n > 0 and coalesce(c.key, c.uniq_key) is not null
  union all
  select if(entry is null, 3, 1) as part, key, uniq_key, final as kind, null as outcome, ts, null as cost_ms, attempts,
    if(entry is null, 'client', 'logs') as source, file, line, false as other
  from calls cross join ledgers where not listed
  union all
  select if(a.key is null and a.uniq_key is null, 4, 2) as part, a.key, a.uniq_key, a.kind, null as outcome, cast(a.ts_ms as double) as ts, null as cost_ms,
    null as attempts, 'app' as source, a.file, a.line, false as other
  from app a cross join ledgers left join client c on c.kind = a.kind
  where not listed and if(a.key is null and a.uniq_key is null, a.nth > coalesce(c.n, 0), a.again = 1)
)
select coalesce(key, uniq_key, concat(file, '\n', line)) as identity, key, uniq_key, kind, outcome, ts, cast(cost_ms as bigint) as cost_ms,
  cast(attempts as bigint) as attempts, source, file, cast(line as bigint) as line, other
from failed
order by part, file, line, key, uniq_key limit 800000
