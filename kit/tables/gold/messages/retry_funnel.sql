-- One row per consumer group, level (the reconsumeTimes) and step: seconds (median from the message's previous copy to this one). Steps: `sent back` (waits
-- or waited for its delay), `retry` (reached the retry topic), `given up` (waits before the dead letter topic), `dlq`.
with retried as (
  select distinct id from records where consumer_group is not null and uniq_key is not null
), copied as (
  select r.id, r.consumer_group, r.reconsume_times as level,
    case when r.stage <> 'schedule' then r.stage when startswith(r.property_REAL_TOPIC, '%DLQ%') then 'given up' else 'sent back' end as step,
    (unix_micros(r.store_timestamp) - lag(unix_micros(r.store_timestamp)) over (
      partition by r.id order by r.store_timestamp nulls last, r.physical_offset)) / 1000000 as seconds
  from records r join retried t on r.id = t.id
), numbered as (
  select *, row_number() over (partition by id, consumer_group, level, step order by seconds nulls last) as nth
  from copied where consumer_group is not null
)
select consumer_group, level, step, count_if(nth = 1) as messages, round(median(seconds), 3) as seconds
from numbered group by consumer_group, level, step
order by consumer_group, level nulls first, case step when 'sent back' then 0 when 'retry' then 1 when 'given up' then 2 else 3 end, step
limit 5000
