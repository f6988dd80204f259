-- One row per length of a topic name that the broker's store refused, and consumer group whose retry topic is so long: entries (lines of that length).
with refused as (
  select try_cast(length as int) as length, count(*) as entries from (
    select value_length as length from events where event = 'topic-too-long'
  ) where length rlike '^[0-9]{1,9}$' group by 1
), known as (
  select distinct name as consumer_group, length(name) + 7 as length from (
    select `group` as name from offsets union select subject from configs where origin = 'subscriptionGroup'
    union select value_group from events where event = 'consumer-connected'
    union select value from named_in_logs where kind = 'group'
  ) where name <> '' and name not like '\\%RETRY\\%%'
)
select r.length, r.entries, k.consumer_group from refused r left join known k on k.length = r.length
where r.length > 0 order by r.length, k.consumer_group limit 20
