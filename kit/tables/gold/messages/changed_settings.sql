-- One row per setting that differs from the copy of the time before the last save (`.bak`): file, origin, subject (topic or group; null: the broker),
-- name, was (null: not there before), value (null: not there any more). At most 10,000. ConfigManager.persist, MixAll.string2File.
with merged as (
  select regexp_replace(file, '(?i)[.]bak$', '') as file, origin, subject, name, max(if(backup, value, null)) as was,
    max(if(backup, null, value)) as value, count_if(backup) as before, count_if(not backup) as now
  from configs group by regexp_replace(file, '(?i)[.]bak$', ''), origin, subject, name
), compared as (
  select *, sum(before) over (partition by file, origin) as all_before, sum(now) over (partition by file, origin) as all_now from merged
)
select file, origin, subject, name, was, value
from compared where all_before > 0 and all_now > 0 and not (was <=> value)
order by file, origin, subject nulls first, name
limit 10000
