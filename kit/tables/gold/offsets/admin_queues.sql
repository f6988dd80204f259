-- One row per row about a queue in mqadmin outputs: offset (of the group), min_offset, max_offset, diff, last_time (as printed: the store time of the
-- message in front of the offset), reset_to (where a reset moved it), reached (the queue's max offset beside the group's), time (when the output was
-- written). Group and topic as the row has them, else the arguments of the command above it. tools/command/consumer, topic, offset.
select file, line, command, coalesce(cells['#Group'], arguments['-g']) as `group`, coalesce(cells['#Topic'], arguments['-t']) as topic,
  coalesce(cells['#Broker Name'], cells['#brokerName']) as broker, try_cast(coalesce(cells['#QID'], cells['#queueId']) as bigint) as queue_id,
  try_cast(coalesce(cells['#Consumer Offset'], cells['#consumerOffset']) as bigint) as offset, try_cast(cells['#Min Offset'] as bigint) as min_offset,
  try_cast(cells['#Max Offset'] as bigint) as max_offset, try_cast(cells['#Diff'] as bigint) as diff, cells['#LastTime'] as last_time,
  try_cast(coalesce(cells['#offset'], cells['#rollbackOffset'], cells['#resetOffset']) as bigint) as reset_to,
  try_cast(cells['#Broker Offset'] as bigint) as reached, time
from admin_blocks
where block > 0 and try_cast(coalesce(cells['#QID'], cells['#queueId']) as bigint) is not null
order by file, line, command, block
