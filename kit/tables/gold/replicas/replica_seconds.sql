-- One row per second, or several together where there are more than 2,000, of acknowledged sends to the replica's master, of several those whose replica
-- lacks some: second (the first, null for sends without a time), missing (on the replica), last_missing (time of the last such send).
with counted as (
  select *, sum(if(missing, 1, 0)) over (partition by host) as lacking, sum(if(missing, 1, 0)) over () as lacking_in_all from replica_sends
), seconds as (
  select date_trunc('second', start) as second, count(*) as acknowledged, sum(case when missing then 1 else 0 end) as missing,
    max(case when missing then start end) as last_missing
  from counted where lacking > 0 or lacking_in_all = 0 group by date_trunc('second', start)
), numbered as (
  select *, row_number() over (order by second nulls last) - 1 as nth, greatest(1, floor(count(second) over () / 2000)) as step from seconds
)
select min(second) as second, sum(acknowledged) as acknowledged, sum(missing) as missing, max(last_missing) as last_missing
from numbered group by second is null, floor(nth / step) order by second nulls last
