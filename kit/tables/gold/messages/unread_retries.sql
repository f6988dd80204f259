-- One row per retry stored as a prepared message, so without a consume queue entry and consumer (CommitLogDispatcherBuildConsumeQueue): records (in all).
select file, physical_offset, store_timestamp, count(*) over () as records
from records where stage = 'retry' and (sys_flag & 12) = 4
order by store_timestamp, file, physical_offset limit 100
