-- One row in all: the first brokerStatus output that says where a commit log ends, against the acknowledged sends with offset ids: file, line,
-- end (commitLogMaxOffset), sends, behind (of these at or after the end), offset_msg_id (one of them), one_host (all name the same broker).
with stated as (
  select file, line, try_cast(trim(value) as bigint) as `end` from admin
  where name = 'commitLogMaxOffset' and trim(value) rlike '^[0-9]{1,18}$'
  order by file, line limit 1
)
select s.file, s.line, s.`end`, count(a.host) as sends, sum(case when a.position >= lpad(hex(s.`end`), 16, '0') then 1 else 0 end) as behind,
  min(a.offset_msg_id) as offset_msg_id, min(a.host) = max(a.host) as one_host
from stated s left join acknowledged a on a.host is not null
group by s.file, s.line, s.`end`
order by s.file, s.line
