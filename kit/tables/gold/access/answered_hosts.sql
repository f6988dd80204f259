-- One row per send ledger and host whose broker answered SEND_OK (`acknowledged`): file, host (as in offset ids, null where no id is written), line
-- (the first), offset_msg_id (the least of these), n (sends). At most 20,000 rows.
select file, host, min(line) as line, min(concat(host, position)) as offset_msg_id, count(*) as n
from acknowledged group by file, host order by file, host limit 20000
