-- One row per consumer group whose ConsumeFromWhere the broker prints: the first entry. ConsumerData in broker/client/ConsumerGroupInfo.
select `group`, first.policy as policy, first.file as file, first.line as line from (
  select value_group as `group`, min(struct(ts, file, line, regexp_extract(value_data, 'consumeFromWhere=([A-Z_]+)', 1) as policy)) as first
  from events where event = 'consumer-registered' and value_data rlike 'consumeFromWhere=[A-Z_]' group by value_group
) where `group` is not null order by `group`
