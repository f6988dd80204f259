-- One row for each of the first three entries in which a store marks its disk full, or prints the flag of that (marked), or a broker answers code 14 and
-- prints a disk used to 0.90 or more (full), less (room), or nothing that was measured (unknown): n, highest (entries and ratio, of that state).
-- DefaultMessageStore.CleanCommitLogService (its clean-up at diskMaxUsedSpaceRatio marks nothing), SendMessageProcessor (diskSpaceWarningLevelRatio 0.90).
with named as (
  select file, line, message, trace from entries where known in ('disk-full', 'service-not-available', 'store-not-writable', '*')
), printed as (
  select file, line, ts, event, greatest(try_cast(value_commitlog as double), try_cast(value_consumequeue as double)) as ratio
  from events where event in ('disk-full', 'service-not-available')
    or (event = 'store-not-writable' and floor(try_cast(regexp_extract(value_what, '([0-9]+)$', 1) as bigint) / 16) % 2 = 1)
), states as (
  select p.file, p.line, p.ts, p.ratio,
    case when p.event <> 'service-not-available' then 'marked' when p.ratio >= 0.9 then 'full' when p.ratio >= 0 then 'room' else 'unknown' end
      as state
  from printed p join named e on e.file = p.file and e.line = p.line
  where p.event <> 'disk-full' or contains(e.message, 'mark disk full')
), numbered as (
  select file, line, ts, state, row_number() over (partition by state order by ts nulls first, file, line) as nth,
    count(*) over (partition by state) as n, max(ratio) over (partition by state) as highest
  from states
)
select s.state, s.n, s.highest, s.ts, s.file, s.line, e.message, e.trace
from numbered s join named e on e.file = s.file and e.line = s.line
where s.nth <= 3 order by s.state, s.nth
