-- One row per consumer group (null: not printed) and reason of a refused send-back, as the exception behind "sendMessageBack Exception" gives it: illegal
-- (a name or properties too long); since_5_1 (in words that clients print since 5.1.0). The remarks: SendMessageProcessor, PutMessageStatus.
with refused as (
  select coalesce(v.value_group, v.value_group_5) as consumer_group, v.value_group is null as since_5_1,
    concat_ws('\n', e.message, e.trace) as text
  from events v join entries e on e.file = v.file and e.line = v.line
  where v.event = 'send-back-exception'
)
select consumer_group,
  case when text like '%length too long%' or text like '%longer than topic max length%' then 'name-too-long'
    when text like '%subscription group not exist%' then 'group-unknown' when text like '%look message by offset failed%' then 'record-gone'
    when text like '%PROPERTIES_SIZE_EXCEEDED%' then 'properties-too-long' when text like '%RemotingTimeoutException%' then 'timeout'
    when text like '%RemotingConnectException%' or text like '%RemotingSendRequestException%' then 'connection'
    when instr(text, 'CLEAN_QUEUE]') > 0 or instr(text, 'REJECTREQUEST]') > 0 or instr(text, 'OS_PAGECACHE_BUSY') > 0 then 'busy'
    when instr(text, 'SERVICE_NOT_AVAILABLE') > 0 or instr(text, 'CREATE_MAPEDFILE_FAILED') > 0 then 'store-unavailable'
    when instr(text, 'MESSAGE_ILLEGAL') > 0 then 'illegal' else 'other' end as reason,
  since_5_1, count(*) as entries
from refused group by 1, 2, 3
order by entries desc, consumer_group, reason, since_5_1
