-- One row per topic that exists: listed (in a broker's list of topics, in topicList, or with a record in a store: what else there is would be there too).
select topic, max(listed) as listed from (
  select subject as topic, true as listed from configs where origin = 'topics'
  union all
  select trim(value) as topic, true as listed from admin where command = 'topicList' and name in ('text', '#Topic')
  union all
  select value_topic as topic, false as listed from events where event in ('queue-taken', 'pull-started', 'route-found', 'send-result')
  union all
  select distinct topic, true as listed from messages_within
)
where topic <> ''
group by topic
order by topic limit 100000
