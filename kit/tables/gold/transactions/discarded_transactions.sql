-- One row per discarded transaction: key, uniq_key, producer_group, stored (half message), time, file, physical_offset (of the discarded record, else of its last half
-- record), check_times, unknown (checks answered UNKNOWN), thrown (boolean: the local transaction threw an exception), log_file, log_line (its first
-- UNKNOWN), first_file, first_line (the producer's own answer). At most 100,000 rows.
select t.keys as key, t.uniq_key, t.producer_group, t.half_time as stored,
  case when t.discard_offset is not null then t.discard_time else t.last_time end as time,
  case when t.discard_offset is not null then t.discard_file else t.last_file end as file,
  coalesce(t.discard_offset, t.last_offset) as physical_offset, t.check_times, coalesce(a.unknown, 0) as unknown,
  coalesce(a.first_exception, false) as thrown, a.unsure_file as log_file, a.unsure_line as log_line, a.first_file, a.first_line
from transactions t left join answered_transactions a on a.uniq_key = t.uniq_key
where t.state = 'discarded'
order by stored, uniq_key limit 100000
