-- One row per store host, over every copy and replica: store_host, begin (physical offset of the first record), last_offset (of the last),
-- end (behind it), first_time, last_time (store times), file (of the last record). As many rows as brokers that led.
-- What is delivered after a delay, committed or put back keeps the store host of what it was made of (ScheduleMessageService.messageTimeUp,
-- EndTransactionProcessor, TransactionalMessageBridge): such records are left out where two brokers wrote into the same store.
with stored as (
  select file, store_host, stage in ('original', 'half', 'schedule', 'op') as own,
    min(physical_offset) as begin, max(physical_offset) as last_offset, max(physical_offset + store_size) as `end`,
    min(store_timestamp) as first_time, max(store_timestamp) as last_time
  from records where problem is null and store_host is not null and store_size is not null group by 1, 2, 3
), ranges as (
  select *, regexp_replace(file, '[^/]*$', '') as folder from stored
), several as (
  select folder from ranges where own group by folder having min(store_host) <> max(store_host)
), whole as (
  select r.* from ranges r left join several f on f.folder = r.folder where r.own or f.folder is null
), hosts as (
  select store_host, min(begin) as begin, max(last_offset) as last_offset, min(first_time) as first_time, max(last_time) as last_time
  from whole group by store_host
)
select h.store_host, h.begin, h.last_offset, max(w.`end`) as `end`, h.first_time, h.last_time, min(w.file) as file
from hosts h join whole w on w.store_host = h.store_host and w.last_offset = h.last_offset
group by h.store_host, h.begin, h.last_offset, h.first_time, h.last_time
order by h.store_host
