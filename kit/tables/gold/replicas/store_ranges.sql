-- One row per commit log file, store host and whether the records are the host's own (`own`): begin, last_offset (physical offsets of the first and
-- the last record), end (behind it), first_time, last_time (store times). At most four rows a file where one other broker wrote on.
-- What is delivered after a delay, committed or put back keeps the store host of what it was made of (ScheduleMessageService.messageTimeUp,
-- EndTransactionProcessor, TransactionalMessageBridge).
select file, store_host, stage in ('original', 'half', 'schedule', 'op') as own, min(physical_offset) as begin, max(physical_offset) as last_offset,
  max(physical_offset + store_size) as `end`, min(store_timestamp) as first_time, max(store_timestamp) as last_time
from records where problem is null and store_host is not null and store_size is not null
group by file, store_host, stage in ('original', 'half', 'schedule', 'op')
order by file, store_host, own
