-- One row per figure of a broker under pressure that mqadmin or watermark.log prints: disk (percent, of commitlog or consume queues), wait (ms that the
-- oldest send waited), queued (the same of watermark.log), lock (ms that an append held the commitlog's lock). CLusterListSubCommand,
-- AdminBrokerProcessor.prepareRuntimeInfo; limits of diskSpaceWarningLevelRatio, waitTimeMillsInSendQueue and osPageCacheBusyTimeOutMills.
with printed as (
  select file, line,
    case when name = '#SPACE' or name like '%DiskRatio%' then 'disk' when name in ('#PCWait(ms)', 'pageCacheLockTimeMills') then 'lock'
      else 'wait' end as figure,
    try_cast(case when name = '#InTPS(LOAD)' then regexp_extract(value, ',([0-9]+)ms', 1) else value end as double) as value
  from admin
  where name in ('#SPACE', '#PCWait(ms)', '#InTPS(LOAD)', 'pageCacheLockTimeMills', 'sendThreadPoolQueueHeadWaitTimeMills')
    or name like 'commitLogDiskRatio%' or name like 'consumeQueueDiskRatio%'
  union all
  select file, line, 'queued' as figure, try_cast(value_slow as double) as value
  from events where event = 'watermark' and value_queue = 'Send' and try_cast(value_slow as bigint) > 200
), named as (
  select file, line, max(value) as broker from admin where name = '#Broker Name' group by file, line
)
select figure, cast(round(case when figure = 'disk' then 100 * value else value end) as bigint) as value, broker, p.file, p.line
from printed p left join named n on n.file = p.file and n.line = p.line
where value >= case figure when 'disk' then 0.9 when 'lock' then 1001 else 201 end and (figure <> 'disk' or value <= 1)
order by figure, value desc, p.file, p.line limit 1000
