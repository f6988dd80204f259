-- Messages in topics of `passed_offsets` that no ledger of the group has: one row per group, topic, side of the group's offset and record that is
-- quoted: passed (in front of the offset), messages (on this side). At most three rows of each side: the first by store time. What the group passed
-- over because no client of it subscribes to its tag is no loss (common/filter/FilterAPI.buildSubscriptionData; an SQL expression may take any tag).
with topics as (
  select distinct `group`, topic, broker, only from passed_offsets
), handled as (
  select distinct `group`, xxhash64(uniq_key) as handled_id from group_deliveries where uniq_key is not null
), wanted as (
  select `group`, topic, concat('||', replace(concat_ws('||', collect_set(expression)), ' ', ''), '||') as tags,
    bool_or(expression rlike '[*=<>()]|[^| ] +[^| ]') as all_tags
  from client_subscriptions group by `group`, topic
), stored as (
  select t.`group`, r.topic, t.broker, r.queue_id, r.queue_offset, r.id, r.tags, r.file, r.physical_offset, r.store_timestamp
  from placed_records r join topics t on r.topic = t.topic and (r.broker = t.broker or (t.only and r.broker is null))
), waiting as (
  select s.`group`, s.topic, coalesce(s.queue_offset < coalesce(o.offset, 0), false) as passed, s.file, s.physical_offset, s.store_timestamp
  from stored s
    left anti join handled h on s.`group` = h.`group` and s.id = h.handled_id
    left join passed_offsets o on s.`group` = o.`group` and s.topic = o.topic and s.broker = o.broker and s.queue_id = o.queue_id
    left join wanted w on s.`group` = w.`group` and s.topic = w.topic
  where coalesce(w.all_tags, true) or coalesce(s.queue_offset >= o.offset, true) or instr(w.tags, concat('||', s.tags, '||')) > 0
), numbered as (
  select *, count(*) over (partition by `group`, topic, passed) as messages,
    row_number() over (partition by `group`, topic, passed order by store_timestamp nulls last, physical_offset, file) as nth
  from waiting
)
select `group`, topic, passed, messages, file, physical_offset, store_timestamp from numbered where nth <= 3
order by `group`, topic, passed, nth
