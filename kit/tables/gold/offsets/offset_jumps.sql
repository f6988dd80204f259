-- One row per consumer group, topic and kind of move (`moved_ranges`): queues, skipped, handled_again (messages, null where the evidence does not say),
-- still_stored (of the skipped, null for resets), without_queue, without_start (queues), times of the moves and of the reset requested.
with counted as (
  select kind, `group`, topic, count(*) as queues, count(distinct broker) as brokers, sum(skipped) as skipped,
    min(case when exact and start is not null then 1 else 0 end) = 1 as exact, sum(again) as handled_again, count(*) - count(again) as without_again,
    sum(still_stored) as still_stored, count(*) - count(queue_id) as without_queue,
    count(*) - count(start) as without_start, min(at) as first, max(at) as last, min(asked) as asked
  from (select *, case when counted then handled_again when exact and start is not null then repeated end as again from moved_ranges)
  group by kind, `group`, topic
), by_kind as (
  select *, case when kind = 'reset' and without_start > 0 or kind = 'skip' and not exact then null when kind in ('reset', 'beyond-end') then 0
      else coalesce(skipped, 0) end as skipped_of_kind,
    case when kind not in ('reset', 'beyond-end') then 0 when without_again = 0 then handled_again end as again_of_kind
  from counted
)
select kind, `group`, topic, queues, brokers, skipped_of_kind as skipped, again_of_kind as handled_again,
  case when kind not in ('reset', 'beyond-end', 'skip') then still_stored end as still_stored, without_queue, without_start,
  least(coalesce(first, asked), coalesce(asked, first)) as first, greatest(coalesce(last, asked), coalesce(asked, last)) as last
from by_kind
order by coalesce(skipped_of_kind, 0) + coalesce(again_of_kind, 0) desc, `group`, topic, kind
