-- One row per record, of the first two, that the half topic wrote to itself (`leaked_records`) within a second of failed sends or stalls: leaked and stored (how many).
with stored as (
  select count(*) as stored from records r cross join busy_window w where unix_millis(r.store_timestamp) between w.start_ms - 1000 and w.end_ms + 1000
)
select l.file, l.physical_offset, l.store_timestamp, count(*) over () as leaked, s.stored
from leaked_records l cross join busy_window w cross join stored s
where unix_millis(l.store_timestamp) between w.start_ms - 1000 and w.end_ms + 1000
order by l.store_timestamp, l.file, l.physical_offset limit 2
