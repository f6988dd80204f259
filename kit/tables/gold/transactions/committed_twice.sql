-- One row per transaction committed more than once: way (late_commit: the commit of the original half record follows the first renewed copy; late_op: it
-- precedes that copy; same_half: all commits name one half record); first_…, second_… (commit).
select keys as key, uniq_key, topic, commits,
  case when named_first = named_last then 'same_half' when named_commit < renewed_offset then 'late_op' else 'late_commit' end as way,
  check_times as checks, commit_time as first_time, commit_file as first_file, commit_offset as first_physical_offset,
  second_time, second_file, second_offset as second_physical_offset
from transactions where state is not null and commits > 1
order by first_time, uniq_key limit 100000
