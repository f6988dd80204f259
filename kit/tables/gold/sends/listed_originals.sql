-- One row in all: originals (records that producers wrote), unlisted (those that no send ledger names by key or UNIQ_KEY), names (that ledgers have).
with listed as (
  select distinct name from (select explode(array(key, uniq_key)) as name from sends) s where name is not null
), originals_named as (
  select count(*) as originals, count_if(k.name is null and p.name is null and u.name is null) as unlisted
  from originals o left join listed k on k.name = o.keys left join listed p on p.name = substring_index(o.keys, ' ', 1)
    left join listed u on u.name = o.uniq_key
)
select o.*, l.names from originals_named o cross join (select count(*) as names from listed) l
