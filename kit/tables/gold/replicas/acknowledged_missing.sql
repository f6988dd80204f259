-- One row per acknowledged send without a record on the surviving replica. At most 20,000 rows; `replica_seconds` has the counts.
select key, uniq_key, offset_msg_id, start, file, line from replica_sends where missing order by file, line limit 20000
