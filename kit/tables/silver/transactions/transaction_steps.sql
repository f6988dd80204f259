-- One row per transaction with the columns of its path: id, uniq_key, keys, producer_group, half_time, local (what the producer answered by itself: COMMIT,
-- ROLLBACK, UNKNOWN, exception, none: no known answer), checks, last_check (COMMIT, ROLLBACK, UNKNOWN, null: no answer seen), state, commits (2: twice or
-- more), consumer (`dead letter`, `retried`, null), path (all of it in one line, in RocketMQ's own terms).
-- An op record on the original without a commit is the producer's own rollback, or its answer to a check that was not logged.
with steps as (
select t.id, t.uniq_key, t.keys, t.producer_group, t.half_time,
  case when a.first_exception then 'exception' when a.first_answer is not null then a.first_answer when t.of_original then 'COMMIT'
    when t.state = 'rolled_back' and t.op_half = t.half_offset then 'ROLLBACK' else 'none' end as local,
  coalesce(t.check_times, 0) as checks,
  case when coalesce(t.check_times, 0) > 0 then
    case when t.of_copy then 'COMMIT' when t.state = 'rolled_back' and coalesce(t.op_half <> t.half_offset, true) then 'ROLLBACK' else a.last_check end
  end as last_check,
  t.state, cast(least(t.commits, 2) as int) as commits, case when t.dead then 'dead letter' when t.reconsumed > 0 then 'retried' end as consumer
from transactions t left join answered_transactions a on a.uniq_key = t.uniq_key
where t.state is not null
)
select *, concat_ws(' → ', 'half', local,
    case when checks > 0 then concat('check ×', cast(cast(checks as bigint) as string), ' ', coalesce(last_check, '?')) end,
    concat(replace(state, '_', ' '), if(commits = 2, ' ×2', '')), consumer) as path
from steps
