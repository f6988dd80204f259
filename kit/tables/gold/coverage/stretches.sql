-- One row per stretch of a broker's commit log that the evidence does not hold, between its first and its last record: files that were not copied between
-- others that were, and damage; behind a file that was cut off, or is full and the last one copied, nobody knows how much. after, before (store times of
-- the neighbouring records), large (a page of memory, which a crash loses at once, can hold several records; or it is cut off). Where the files of each
-- folder follow each other none is missing, whoever wrote them; copies of one file cover each other.
with stores as (
  select file, replica_of, regexp_replace(file, '[^/]*$', '') as folder, base, base + bytes as behind from files
  where kind in ('commitlog', 'dledger') and base is not null
), steps as (
  select base <> lag(behind) over (partition by folder order by base, behind) as apart from stores
), spans as (
  select x.store_host, s.base, x.first,
    max(s.behind) over (partition by x.store_host order by s.base, s.behind, x.first, x.last rows between unbounded preceding and 1 preceding) as reached,
    max(x.last) over (partition by x.store_host order by s.base, s.behind, x.first, x.last rows between unbounded preceding and 1 preceding) as after
  from store_extent x join stores s on x.file = s.file
  where s.replica_of is null and x.store_host is not null and x.first is not null
), doubtful as (
  select coalesce(max(n), 0) as n from (select count(*) as n from damage_neighbours union all select count_if(apart) as n from steps) counts
), full as (
  select distinct x.store_host, s.behind as start, s.folder, x.last as after
  from skipped k join stores s on s.file = k.file and k.reason = 'blank' and k.end = s.behind - s.base join store_extent x on x.file = s.file
  where s.replica_of is null and x.store_host is not null
), followed as (
  -- By the next file of the folder, which may have no record yet, or by one of another copy.
  select folder, cast(null as string) as store_host, base from stores
  union all
  select cast(null as string), x.store_host, s.base from stores s join store_extent x on x.file = s.file
), gaps as (
  select store_host, start, `end`, after, before, cut from damage_neighbours
  union all
  select f.store_host, f.start, f.start as `end`, f.after, null as before, true as cut
  from full f left join followed n on n.base = f.start and (n.folder = f.folder or n.store_host = f.store_host) where n.base is null
  union all
  select p.store_host, p.reached as start, p.base as `end`, p.after, p.first as before, false as cut from spans p cross join doubtful d
  where p.base > p.reached and d.n > 0
)
select store_host, start, `end`, after, before, unix_millis(after) as after_ms, unix_millis(before) as before_ms, cut or `end` - start >= 4096 as large,
  cut
from gaps
order by store_host, start, `end`
