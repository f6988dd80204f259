-- One row: stuck (offset in the half queue at which the check does not get on, or will not), waiting (pending transactions whose last half is behind it).
with looping as (
  select * from half_looping order by queue_offset, offset_msg_id, file limit 5
), stuck as (
  select coalesce(
    (select min(queue_offset) from looping where next_refused is not null), (select min(queue_offset) from looping),
    (select min(queue_offset) from half_misfits)
  ) as stuck
)
select s.stuck, count(t.id) as waiting
from stuck s left join (select id, last_queue from transactions where state = 'pending') t on t.last_queue > s.stuck
group by s.stuck
order by s.stuck
