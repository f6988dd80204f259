-- One row per commit log file with records that only damage explains, as no release writes them so: file, records, start, end (physical offsets of
-- the first of them and behind the last). At most one row a file.
select file, count(*) as records, min(physical_offset) as start, max(physical_offset + store_size) as end
from stored_messages
where problem is not null and arrays_overlap(split(problem, ','), array('crc', 'topic', 'properties', 'timestamp', 'host'))
group by file order by file
