-- One row per length of a topic name that the broker's store refused: length (characters), entries, of_group (boolean: a consumer group of the
-- configuration or the offsets has a retry topic of that length). At most a few rows.
with refused as (
  select try_cast(length as int) as length, count(*) as entries from (
    select try_element_at(values, 'length') as length from events where event = 'topic-too-long'
  ) where length rlike '^[0-9]{1,9}$' group by 1
), known as (
  select distinct length(name) + 7 as length from (
    select `group` as name from offsets union select subject from configs where origin = 'subscriptionGroup'
  ) where name <> ''
)
select r.length, r.entries, k.length is not null as of_group from refused r left join known k on k.length = r.length
where r.length > 0 order by r.length
