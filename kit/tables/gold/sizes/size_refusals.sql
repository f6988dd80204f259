-- One row per file, writer and (except for sends) values of refused writes in broker logs: writer (null if the thread is not printed), sizes in bytes (of
-- sends the largest), repeated: whether it is a failed delivery of a delayed message that a stop of the broker does not explain (of one message, for its
-- size, or, where no message is named, over 5 s and more: the delivery is tried again after 10 s). The most frequent: a put-back loop prints the same two
-- lines tens of thousands of times a second. Source: store/CommitLog, store/MessageExtEncoder, TransactionalMessageServiceImpl.putBackHalfMsgQueue,
-- store/schedule/ScheduleMessageService.
with alike as (
  -- The values of millions of equal entries are looked at once.
  select file, source, event, thread, map_entries(e.values) as entries, count(*) as n, min(ts) as first, max(ts) as last, min(line) as line,
    max(line) as last_line
  from events e
  where e.event in ('message-size-exceeded', 'message-body-size-exceeded', 'properties-too-long', 'put-back-failed', 'schedule-put-failed')
  group by file, source, event, thread, map_entries(e.values)
), statements as (
  select *, map_from_entries(entries) as printed,
    case when event = 'put-back-failed' then 'put_back' when event = 'schedule-put-failed' then 'schedule'
      when thread like '%TransactionalMessageCheckService%' then 'put_back' when thread like '%SendMessageThread%' then 'send'
      when thread like '%EndTransactionThread%' then 'commit' when thread like '%ScheduleMessage%' then 'schedule' end as writer
  from alike
), sized as (
  select file, source, event, writer, n, first, last, line, last_line,
    printed['msg_id'] as msg_id, printed['status'] as status, printed['topic'] as topic,
    case when printed['total'] rlike '^[0-9]{1,18}$' then try_cast(printed['total'] as bigint) end as total,
    case when printed['body'] rlike '^[0-9]{1,18}$' then try_cast(printed['body'] as bigint) end as body,
    case when printed['limit'] rlike '^[0-9]{1,18}$' then try_cast(printed['limit'] as bigint) end as `limit`,
    case when printed['length'] rlike '^[0-9]{1,18}$' then try_cast(printed['length'] as bigint) end as length
  from statements
), limited as (
  select *, case when coalesce(writer, '') <> 'send' then concat_ws(' ', coalesce(total, -1), coalesce(body, -1), coalesce(length, -1)) end as sizes
  from sized
), most as (
  select file, source, writer, event, msg_id, max(total) as total, max(body) as body, `limit`, max(length) as length, status, topic,
    sum(n) as count, min(first) as first, max(last) as last, min(line) as line, max(last_line) as last_line
  from limited
  group by file, source, writer, event, msg_id, `limit`, status, topic, sizes
  order by count desc, file, line, event, writer, msg_id
  limit 5000
)
select *, coalesce(event = 'schedule-put-failed' and case when msg_id is not null then sum(count) over (partition by event, msg_id) > 1
    else status in ('MESSAGE_ILLEGAL', 'PROPERTIES_SIZE_EXCEEDED') or unix_micros(max(last) over (partition by event, status))
      - unix_micros(min(first) over (partition by event, status)) >= 5000000 end, false) as repeated
from most order by first nulls last, file, line, event, writer, total, body, msg_id
