-- One row per half record: last_size (at the last put-back), `limit` (maxMessageSize), fate (refused: its put-back was; at_risk: open, will not fit).
with largest as (
  select * from sized_halves order by store_size desc, queue_offset, offset_msg_id, file limit 4000
)
select h.queue_offset, h.store_size, h.last_size, h.`limit`, h.offset_msg_id,
  case when l.offset_msg_id is not null then 'refused' when t.id is null then 'ended' when h.refused is not null then 'at_risk' else 'fits' end as fate
from largest h
left join (select distinct offset_msg_id from half_looping) l on h.offset_msg_id = l.offset_msg_id
left join (select id from transactions where state in ('pending', 'discarded')) t on h.id = t.id
order by h.store_size desc, h.queue_offset, h.offset_msg_id
