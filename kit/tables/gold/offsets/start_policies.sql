-- One row per consumer group whose ConsumeFromWhere the broker prints: group, policy (CONSUME_FROM_LAST_OFFSET, …), file, line of its first
-- entry. At most as many rows as groups. ConsumerData in broker/client/ConsumerGroupInfo.
with printed as (
  select value_group as `group`, regexp_extract(value_data, 'consumeFromWhere=([A-Z_]+)', 1) as policy, file, line, ts
  from events where event = 'consumer-registered' and value_group is not null
), numbered as (
  select *, row_number() over (partition by `group` order by ts nulls first, file, line) as nth from printed where policy <> ''
)
select `group`, policy, file, line from numbered where nth = 1 order by `group`
