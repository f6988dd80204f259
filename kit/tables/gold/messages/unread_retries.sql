-- One row per retry stored as a prepared message, which has no consume queue entry and so no consumer: file, physical_offset, store_timestamp,
-- records (how many there are in all). The first 100 stored. DefaultMessageStore.CommitLogDispatcherBuildConsumeQueue.
select file, physical_offset, store_timestamp, count(*) over () as records
from records where stage = 'retry' and (sys_flag & 12) = 4
order by store_timestamp, file, physical_offset limit 100
