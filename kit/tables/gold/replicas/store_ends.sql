-- One row per store host, over every copy and replica: begin and last_offset (of the first and last record), end (behind it), file (of the last). What is
-- delivered after a delay, committed or put back keeps the store host of what it was made of (ScheduleMessageService.messageTimeUp,
-- EndTransactionProcessor, TransactionalMessageBridge): such records are left out where two brokers wrote into the same store.
with stored as (
  select file, store_host, stage in ('original', 'half', 'schedule', 'op') as own,
    min(physical_offset) as begin, max(physical_offset) as last_offset, max(physical_offset + store_size) as `end`,
    min(store_timestamp) as first_time, max(store_timestamp) as last_time
  from records where problem is null and store_host is not null and store_size is not null group by 1, 2, 3
), folders as (
  select *, regexp_replace(file, '[^/]*$', '') as folder from stored
), writers as (
  select *, min(if(own, store_host, null)) over inside <> max(if(own, store_host, null)) over inside as several
  from folders window inside as (partition by folder)
), hosts as (
  select *, max(last_offset) over (partition by store_host) = last_offset as newest from writers where own or not coalesce(several, false)
)
select store_host, min(begin) as begin, max(last_offset) as last_offset, max(if(newest, `end`, null)) as `end`, min(first_time) as first_time,
  max(last_time) as last_time, min(if(newest, file, null)) as file
from hosts group by store_host order by store_host
