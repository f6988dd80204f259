-- One row per delivery of a message of `identity_records`: file, line, consumer, uniq_key, offset_msg_id, reconsume_times, result, success, time.
-- The first 5,000 by time.
select d.file, d.line, d.consumer, d.uniq_key, d.offset_msg_id, d.reconsume_times, d.result, d.success, d.time
from deliveries d left semi join identity_records r on d.uniq_key = r.uniq_key
order by d.time nulls first, d.file, d.line
limit 5000
