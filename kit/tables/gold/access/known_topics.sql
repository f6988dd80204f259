-- One row per topic that exists: in a broker's list of topics, in topicList, with a record in a store, or with queues that a consumer took.
-- At most 100,000 rows.
select topic from (
  select subject as topic from configs where origin = 'topics'
  union
  select trim(value) as topic from admin where command = 'topicList' and name in ('text', '#Topic')
  union
  select e.value_topic as topic from events e where e.event in ('queue-taken', 'pull-started')
  union
  select topic from messages_within
)
where topic <> ''
order by topic
limit 100000
