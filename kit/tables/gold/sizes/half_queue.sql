-- One row per moment of the half queue. line: stored: the end of the queue after the records of up to 400 equal times (at least a second); checked: where
-- the last round of checks in such a time began; saved: what an offset file holds for the next round (file; no ts; backup copies only where there is no
-- other). The check saves its position as the offset of CID_RMQ_SYS_TRANS (broker/transaction/queue/TransactionalMessageServiceImpl.check).
with points as (
  select 'stored' as line, store_timestamp as ts, queue_offset + 1 as offset from records
  where topic = 'RMQ_SYS_TRANS_HALF_TOPIC' and store_timestamp is not null and queue_offset is not null
  union all
  select 'checked' as line, e.ts, try_cast(e.value_half_offset as bigint) as offset from events e
  where e.event = 'check-position' and e.ts is not null and e.value_topic = 'RMQ_SYS_TRANS_HALF_TOPIC' and e.value_half_offset rlike '^[0-9]{1,18}$'
), spans as (
  select line, min(unix_micros(ts)) as begin, greatest(1, ceil((max(unix_micros(ts)) - min(unix_micros(ts)) + 1) / 400000000.0)) * 1000000 as width
  from points group by line
), placed as (
  select p.line, p.ts, p.offset, case when p.line = 'stored' then date_trunc('SECOND', p.ts) else p.ts end as at,
    floor((unix_micros(p.ts) - case when s.width > 1000000 then s.begin else 0 end) / s.width) as bucket
  from points p join spans s on p.line = s.line
), last as (
  select line, at as ts, case when line = 'stored' then max(offset) over (partition by line, bucket) else offset end as offset,
    row_number() over (partition by line, bucket order by ts desc, offset desc) as nth
  from placed
), positions as (
  select file, value, backup from offsets
  where topic = 'RMQ_SYS_TRANS_HALF_TOPIC' and `group` = 'CID_RMQ_SYS_TRANS' and kind = 'consumer' and value is not null
)
select line, ts, offset, cast(null as string) as file from last where nth = 1
union all
select distinct 'saved' as line, cast(null as timestamp) as ts, value as offset, file from positions
where not backup or (select count(*) from positions where not backup) = 0
order by line, ts, offset, file
