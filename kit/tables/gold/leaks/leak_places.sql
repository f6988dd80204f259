-- One row per role of a leaked record and rank: role (resent: the records with which the leak began, written by a consumer; leaked; committed; twin: a
-- half record that shares UNIQ_KEY and check count with another one, for one message became two; discarded; arrived: those in the check-limit topic),
-- records (of the role), store_timestamp, file, physical_offset, and of the record reconsume_times, check_times, committed.
-- At most 3 rows a role, in order of time.
with twins as (
  select uniq_key, coalesce(check_times, -1) as checks from leaked_records where place = 'half' and uniq_key is not null
  group by uniq_key, coalesce(check_times, -1) having count(*) > 1
), roles as (
  select 'resent' as role, * from leaked_records where place = 'schedule' and reconsume_times > 0 and resent and check_times is null
  union all select 'leaked', * from leaked_records where place <> 'discarded'
  union all select 'committed', * from leaked_records where place <> 'discarded' and committed
  union all select 'twin', l.* from leaked_records l left semi join twins t on t.uniq_key = l.uniq_key and t.checks = coalesce(l.check_times, -1)
    where l.place = 'half'
  union all select 'discarded', * from leaked_records where place = 'discarded'
  union all select 'arrived', * from leaked_records where place = 'discarded' and topic = 'TRANS_CHECK_MAX_TIME_TOPIC'
)
select role, records, store_timestamp, file, physical_offset, reconsume_times, check_times, committed from (
  select *, count(*) over (partition by role) as records,
    row_number() over (partition by role order by store_timestamp nulls last, file, physical_offset) as nth
  from roles
) where nth <= 3
order by role, nth
