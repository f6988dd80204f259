-- One row per release that a client log names when a client is created (MQClientManager, MQClientInstance): version, e.g. V4_9_4.
with named as (
  select regexp_extract(message, 'ClientVersion:\\s*(V[0-9]+_[0-9]+_[0-9]+)', 1) as version
  from all_entries where message like '%ClientVersion:%'
)
select distinct version from named where version <> '' order by version limit 1000
