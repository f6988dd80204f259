-- One row per log entry about a failed send, or with the message of a failed attempt: file, line, at (the line that names the kind), ts_ms
-- (since 1970), source, thread, logger, role (attempt, message, call), kind (null for a message), key, uniq_key, printed (first 2,000 characters,
-- of a call), period (ms in the queue), queue (its size), broker, thrown (the client makes no further attempt: it says so, or a time-out used up the call's time, except in 3.x, which prints no more than `sendKernelImpl exception`), counts (false: another logger of the
-- application prints the exceptions of this thread and second as well, and more of them).
-- At most 400,001 (with more they are not followed one by one), in order of file and line. A client logs each failed attempt (DefaultMQProducerImpl.sendDefaultImpl), up to 5.1.1 with the
-- message as an entry of its own; what an application logs is the exception of the whole call.
-- What a client logs of another request (pull, heartbeat, send-back) is no failed send; what an application does is one, unless its trace
-- shows such a request; the title of an issue or mail, or the line a paste begins with in words of its own, repeats what its text says. Without a time of its own the exception directly behind an attempt is that attempt's (a paste). A time-out in a broker's or name server's log is that of its own request to another one.
with marked as (
  select file, line,
    bool_or(event = 'send-attempt-failed') as attempt, bool_or(event = 'flow-control') as refused,
    bool_or(event in ('client-wait-timeout', 'client-call-timeout', 'client-async-timeout')) as late,
    bool_or(event <> 'send-attempt-message') as failed,
    max(case when event = 'flow-control' then value_kind end) as kind,
    max(case when event = 'flow-control' then value_period end) as period,
    max(case when event = 'flow-control' then value_queue end) as queue,
    max(case when event = 'send-attempt-failed' then value_broker end) as broker,
    max(case when event = 'send-attempt-failed' then value_what end) as what,
    max(case when event = 'send-attempt-message' then value_keys end) as printed_key,
    max(case when event = 'send-attempt-message' then value_msg_id end) as printed_id
  from events
  where event in (
    'send-attempt-failed', 'send-attempt-message', 'flow-control', 'client-wait-timeout', 'client-call-timeout', 'client-async-timeout',
    'broker-exception', 'client-exception', 'client-connect-failed', 'client-send-request-failed', 'client-too-many-requests',
    'map-file-failed', 'service-not-available', 'replicas-not-enough', 'send-given-up', 'no-permission')
  group by file, line
), texts as (
  select m.*, coalesce(r.pull, false) as pull, e.lines, e.ts, e.source, e.thread, e.logger, e.layout, e.message, concat_ws(chr(10), coalesce(e.message, ''), e.trace) as text
  from marked m join (
    -- So few entries reach the join, each with its text.
    select * from entries where known in (
      'send-attempt-failed', 'send-attempt-message', 'flow-control', 'client-wait-timeout', 'client-call-timeout', 'client-async-timeout',
      'broker-exception', 'client-exception', 'client-connect-failed', 'client-send-request-failed', 'client-too-many-requests',
      'map-file-failed', 'service-not-available', 'replicas-not-enough', 'send-given-up', 'no-permission', '*')
  ) e on e.file = m.file and e.line = m.line left join refused_requests r on r.file = m.file and r.line = m.line
), roles as (
  select *, contains(text, 'DefaultMQProducerImpl.send') as from_send,
    case when attempt then 'attempt' when not failed then 'message' else 'call' end as role,
    case when not failed then null when refused then coalesce(kind, 'OTHER') when late then 'CLIENT_TIMEOUT' else 'OTHER' end as named,
    case when refused then coalesce(concat('[', kind), 'start flow control')
      when contains(text, 'wait response on the channel') then 'wait response on the channel'
      when contains(text, 'Send message to broker timeout') then 'Send message to broker timeout'
      when contains(text, 'call timeout') then 'call timeout' end as words
  from texts
), pairs as (
  select *, role = 'call' and count(*) over (partition by file, named) > 1 and (message rlike '^(?:#{1,6} |Subject: )'
      or line = 1 and ts is null and not message rlike '^[A-Za-z0-9_.$ ]*(?:Exception|Error|Caused by): '
        and coalesce(substring(message, 1, 8) <> substring(lead(message) over beside, 1, 8), false)) as title,
    ts is null and lag(role) over beside = 'attempt' and lag(line + lines) over beside = line as behind,
    case when lead(role) over beside = 'call' and lead(ts) over beside is null and lead(line) over beside = line + lines
      then nullif(lead(named) over beside, 'OTHER') end as exception
  from roles window beside as (partition by file order by line)
), counted as (
  select * from pairs
  where not coalesce(behind, false) and not title and (role <> 'call' or from_send or (named <> 'OTHER' and coalesce(source, 'client') <> 'client'
    and not (late and source in ('broker', 'store', 'remoting', 'transaction', 'broker_default', 'namesrv')) and not (late and pull)))
), printed as (
  select file, line,
    cast(case when lines > 1 and coalesce(layout, '') <> 'json' and instr(text, words) > 0
      then least(line + length(substring(text, 1, instr(text, words) - 1)) - length(replace(substring(text, 1, instr(text, words) - 1), chr(10), '')),
        line + lines - 1)
      else line end as bigint) as at,
    unix_millis(ts) as ts_ms, source, thread, logger, role, case role when 'attempt' then coalesce(exception, named) else named end as kind,
    case role when 'message' then printed_key
      when 'call' then nullif(regexp_extract(message, '(?i)(?:^|[^a-z0-9_])keys?[\\x27"]?[ \\t\\r\\n]*[:=：][ \\t\\r\\n]*\\[?[\\x27"]?([^ \\t\\r\\n,;，；。\\x27"\\])}]+)', 1), '')
      end as key,
    case role when 'message' then printed_id
      when 'call' then nullif(regexp_extract(message, '(?:^|[^A-Za-z0-9_])([0-9A-Fa-f]{32}(?:[0-9A-Fa-f]{24})?)(?:$|[^A-Za-z0-9_])', 1), '')
      end as uniq_key,
    case when role = 'call' then substring(message, 1, 2000) end as printed,
    try_cast(period as bigint) as period, try_cast(queue as bigint) as queue, broker, what
  from counted
), loose as (
  select *, role = 'call' and key is null and uniq_key is null and thread is not null as loose, ts_ms div 1000 as second from printed
), numbered as (
  select *, count(*) over (partition by loose, file, thread, kind, period, queue, second, logger) as n from loose
), most as (
  select *, first_value(coalesce(logger, '')) over (
    partition by loose, file, thread, kind, period, queue, second order by n desc, coalesce(logger, '')) as most from numbered
)
select file, line, at, ts_ms, source, thread, logger, role, kind, key, uniq_key, printed, period, queue, broker,
  coalesce(what = 'throw exception' or (what <> '' and kind = 'CLIENT_TIMEOUT'), false) as thrown, not loose or coalesce(logger, '') = most as counts
from most order by file, line limit 400001
