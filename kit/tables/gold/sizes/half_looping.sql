-- One row per half record whose put-back was refused according to the log: refused, next_refused (why, null if the broker would store it). transaction.log
-- names the record by its offset id. store.log prints sizes only: of those whose next put-back has these sizes it is the first open one of the queue.
with named as (
  select distinct upper(msg_id) as offset_msg_id from size_refusals where event = 'put-back-failed' and msg_id is not null
), printed as (
  select distinct total, body from size_refusals
  where writer = 'put_back' and event in ('message-size-exceeded', 'message-body-size-exceeded', 'properties-too-long')
    and total is not null and body is not null and (select count(*) from named) = 0
), alike as (
  select h.offset_msg_id, row_number() over (
    partition by h.next_size, h.put_back_body order by case when t.id is null then 1 else 0 end, h.queue_offset, h.physical_offset
  ) as nth
  from sized_halves h join printed p on h.next_size = p.total and h.put_back_body = p.body
  left join (select id from transactions where state in ('pending', 'discarded')) t on h.id = t.id
), looping as (
  select offset_msg_id from named union select offset_msg_id from alike where nth = 1
)
select h.file, h.physical_offset, h.offset_msg_id, h.real_topic, h.queue_offset, h.sys_flag, h.store_size, h.body_size, h.put_back_body,
  h.next_size, h.last_size, h.next_refused, h.refused
from sized_halves h join looping l on h.offset_msg_id = l.offset_msg_id
order by h.queue_offset, h.offset_msg_id, h.file limit 1000
