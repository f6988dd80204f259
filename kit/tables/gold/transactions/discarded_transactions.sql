-- One row per discarded transaction: stored (half message), time and place (of the discarded record, else its last half record), unknown (checks).
select t.keys as key, t.uniq_key, t.producer_group, t.half_time as stored,
  case when t.discard_offset is not null then t.discard_time else t.last_time end as time,
  case when t.discard_offset is not null then t.discard_file else t.last_file end as file,
  coalesce(t.discard_offset, t.last_offset) as physical_offset, t.check_times, coalesce(a.unknown, 0) as unknown,
  coalesce(a.first_exception, false) as thrown, a.unsure_file as log_file, a.unsure_line as log_line, a.first_file, a.first_line
from transactions t left join answered_transactions a on a.uniq_key = t.uniq_key
where t.state = 'discarded'
order by stored, uniq_key limit 100000
