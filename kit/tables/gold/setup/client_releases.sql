-- One row per release that a client log names when a client is created (MQClientManager, MQClientInstance): version, e.g. V4_9_4.
select distinct version from (
  select regexp_extract(message, 'ClientVersion:\\s*(V[0-9]+_[0-9]+_[0-9]+)', 1) as version from all_entries where message like '%ClientVersion:%'
) where version <> '' order by version limit 1000
