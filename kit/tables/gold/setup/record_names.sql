-- One row per topic, store host and born host (ip:port) of the records, whatever their time. With more than 10,000, nobody lists them.
with named as (
  select 'topic' as kind, topic as value from stored_messages group by topic
  union all
  select 'store_host' as kind, store_host as value from stored_messages group by store_host
  union all
  select 'born_host' as kind, born_host as value from stored_messages group by born_host
), ranked as (
  select kind, value, row_number() over (partition by kind order by value) as nth from named where value is not null and value <> ''
)
select kind, value from ranked where nth <= 10001 order by kind, value
