-- The rows of `deliveries` of messages with these UNIQ_KEYs (`keys`) or of copies with these offset ids, in order of time: the first 100,000.
select file, line, consumer, uniq_key, offset_msg_id, reconsume_times, result, success, time from deliveries
where array_contains(cast(:keys as array<string>), uniq_key) or array_contains(:offset_ids, offset_msg_id)
order by time nulls first, file, line limit 100000
