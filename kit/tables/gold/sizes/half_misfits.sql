-- One row per open transaction whose record some put-back exceeds: of its last such half record the sizes, refused (why); in all rows their number.
with misfits as (
  select *, row_number() over (partition by id order by store_timestamp desc, physical_offset desc, file) as nth from sized_halves where refused is not null
)
select m.uniq_key, t.state, m.real_topic as topic, m.queue_offset, m.store_timestamp, m.file, m.physical_offset, m.offset_msg_id, m.store_size,
  m.body_size, m.put_back_body, m.sys_flag, m.next_size, m.last_size, m.refused, count(*) over () as transactions, max(m.last_size) over () as largest
from misfits m join transactions t on m.id = t.id
where m.nth = 1 and t.state in ('pending', 'discarded')
order by queue_offset, uniq_key, physical_offset limit 4000
