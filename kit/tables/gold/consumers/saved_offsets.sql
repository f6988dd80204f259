-- One row per offset in a copy of a broker's consumerOffset.json, saved every 5 s. With storeType=defaultRocksDB (5.2.0 and later) offsets are in a
-- database in the same folder (config/v1/RocksDBConsumerOffsetManager, config/v2/ConfigStorage), and a file beside it is from before.
with databases as (
  select distinct regexp_extract(file, '^(.*/)?config/', 0) as folder from files where kind = 'rocksdb' and file rlike '(^|/)config/[^/]+/[^/]+$'
)
select o.file, o.line, o.time, o.`group`, o.topic, o.queue_id, o.value
from offsets o left anti join databases d on regexp_replace(o.file, '[^/]*$', '') = d.folder
where o.kind = 'consumer' and not o.backup
order by o.file, o.line, o.`group`, o.topic, o.queue_id limit 1000000
