-- One row per offset in a copy of a broker's consumerOffset.json: file, line, time (when the copy was written, null if unknown), group, topic, queue_id,
-- value (the next offset to be handled). At most 1,000,000 rows, in order of place. broker/offset/ConsumerOffsetManager, saved every 5 s.
select file, line, time, `group`, topic, queue_id, value
from offsets
where kind = 'consumer' and not backup
order by file, line, `group`, topic, queue_id limit 1000000
