-- One row per send ledger and host (as in offset ids) whose broker answered SEND_OK (`acknowledged`): the first line, the least offset id, n (sends).
select file, host, min(line) as line, min(concat(host, position)) as offset_msg_id, count(*) as n
from acknowledged group by file, host order by file, host limit 20000
