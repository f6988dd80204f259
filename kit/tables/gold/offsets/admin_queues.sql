-- One row per row about a queue in mqadmin outputs: file, line, command, group, topic, broker, queue_id, offset (of the group), min_offset,
-- max_offset (of the queue), diff, last_time (as printed: the store time of the message in front of the offset), reset_to (where a reset moved
-- it), reached (the queue's max offset beside the group's), time (when the output was written). Group and topic as the row has them, else the
-- arguments of the command above it. At most 200,000 rows, in order of place.
-- tools/command/consumer/ConsumerProgressSubCommand, topic/TopicStatusSubCommand, offset/ResetOffsetByTimeCommand, SkipAccumulationSubCommand.
with calls as (
  select file, line, max(case when name = 'argument:-g' then value end) as call_group, max(case when name = 'argument:-t' then value end) as call_topic
  from admin where startswith(name, 'argument:') group by file, line
), cells as (
  select file, command, block, min(line) as line, max(case when name = '#Group' then value end) as row_group,
    max(case when name = '#Topic' then value end) as row_topic, max(case when name in ('#Broker Name', '#brokerName') then value end) as broker,
    max(case when name in ('#QID', '#queueId') then try_cast(value as bigint) end) as queue_id,
    max(case when name in ('#Consumer Offset', '#consumerOffset') then try_cast(value as bigint) end) as offset,
    max(case when name = '#Min Offset' then try_cast(value as bigint) end) as min_offset,
    max(case when name = '#Max Offset' then try_cast(value as bigint) end) as max_offset,
    max(case when name = '#Broker Offset' then try_cast(value as bigint) end) as reached, min(time) as time,
    max(case when name = '#Diff' then try_cast(value as bigint) end) as diff, max(case when name = '#LastTime' then value end) as last_time,
    max(case when name in ('#offset', '#rollbackOffset', '#resetOffset') then try_cast(value as bigint) end) as reset_to
  from admin where block > 0 and not startswith(name, 'argument:') group by file, command, block
), placed as (
  select r.*, c.call_group, c.call_topic, row_number() over (partition by r.file, r.command, r.block order by c.line desc nulls last) as nth
  from cells r left join calls c on r.file = c.file and c.line <= r.line
  where r.queue_id is not null
)
select file, line, command, coalesce(row_group, call_group) as `group`, coalesce(row_topic, call_topic) as topic, broker, queue_id, offset,
  min_offset, max_offset, diff, last_time, reset_to, reached, time
from placed where nth = 1 order by file, line, command, block
limit 200000
