-- A row a record: where it is, when, what it is of.
-- Times outside these years are damage: they would squeeze the timeline into one bar.
select file, physical_offset, case when store_timestamp between timestamp'1971-01-01' and timestamp'2262-01-01' then store_timestamp end as ts, topic, stage, coalesce(consumer_group, property_PGROUP) as `group`,
  regexp_replace(born_host, ':[0-9]+$', '') as host, `keys`, uniq_key, store_size
from records
