-- One row per commit log file with records that only damage explains, as no release writes them so: start, end (bytes of the file that hold them).
select m.file, count(*) as count, min(m.physical_offset - coalesce(f.base, 0)) as start, max(m.physical_offset + m.store_size - coalesce(f.base, 0)) as end
from stored_messages m left join files f on f.file = m.file
where m.problem is not null and arrays_overlap(split(m.problem, ','), array('crc', 'topic', 'properties', 'timestamp', 'host'))
group by m.file order by m.file
