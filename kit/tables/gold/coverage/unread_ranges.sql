-- One row per range of a commit log file that could not be read: start, end (bytes), following (of zeros: the file behind). Zeros: a broker fills a file
-- up before it begins the next (`CommitLog` blank), but allocates the next one, of zeros, ahead; so an unwritten end is none where the log goes on.
with segments as (
  select file, base + bytes as end, lead(file) over folders as following, lead(base) over folders as next_base from (
    select file, coalesce(base, 0) as base, bytes, regexp_replace(file, '[^/]*$', '') as folder from files
    where kind in ('commitlog', 'dledger') and file rlike '(^|/)[0-9]{20}$'
  ) window folders as (partition by folder order by base, file)
), unwritten as (
  select file, start, end from skipped where reason = 'zero_tail'
)
select file, start, end, reason, cast(null as string) as following from skipped where reason in ('truncated', 'corrupt')
union all
select u.file, u.start, u.end, 'zeros' as reason, s.following
from unwritten u join segments s on s.file = u.file and s.next_base = s.end left join unwritten n on n.file = s.following and n.start = 0
where n.file is null
order by file, start, end, reason limit 100000
