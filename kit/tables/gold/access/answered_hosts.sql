-- One row per send ledger and host whose broker answered SEND_OK, by the offset ids in it (of a batch the first): file, host (as in those ids, null
-- where no id is written), line (the first), offset_msg_id (of that line), n (sends). At most 20,000 rows.
with answered as (
  select file, line, trim(substring_index(offset_msg_id, ',', 1)) as offset_msg_id from sends where upper(trim(outcome)) = 'SEND_OK'
), hosts as (
  select file, line, offset_msg_id, left(offset_msg_id, length(offset_msg_id) - 16) as host from answered
), numbered as (
  select *, row_number() over (partition by file, host order by line, offset_msg_id) as nth, count(*) over (partition by file, host) as n from hosts
)
select file, host, line, offset_msg_id, n from numbered where nth = 1 order by file, host limit 20000
