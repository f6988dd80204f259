-- One row per consumer group and log that shows a client of it at work, by its queues, saved offsets, or the groups of a printed HeartbeatData.
with named as (
  select distinct file, value_group as `group` from events
  where event in ('queues-assigned', 'queues-assigned-go', 'queue-taken', 'pull-started', 'consumer-offset-saved')
), listed as (
  select file, explode(split(data, 'groupName=')) as part from (select distinct file, value_data as data from events where event = 'heartbeat-data')
)
select `group`, file from named where `group` is not null
union
select substring_index(part, ',', 1) as `group`, file from listed where not startswith(part, 'ConsumerData [')
order by `group`, file
