-- One row: original (whether files have their original modification times), collected (no later than this, null if unknown). Those of logs and stores are
-- original if they agree with the last time in them: a file is written on for at most two minutes. Without any, if they differ by more than copying takes.
with ages as (
  select last, unix_micros(modified) - unix_micros(last) between -2000000 and 120000000 as original
  from files where kind in ('log', 'commitlog', 'dledger') and modified is not null and last is not null
), dated as (
  select count(*) as files, count_if(original) as original, max(case when original then unix_micros(last) end) as last from ages
), others as (
  select unix_micros(max(modified)) - unix_micros(min(modified)) >= 2000000 as apart from files where kind in ('store_json', 'mqadmin', 'thread_dump')
)
select if(files > 0, d.original * 2 >= files, coalesce(apart, false)) as original, timestamp_micros(last + 120000000) as collected
from dated d cross join others
order by original
