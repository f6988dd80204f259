-- One row per topic that clients write message traces to: topic. RocketMQ's own, and those whose records are traces. At most 1,000.
-- client/trace/AsyncTraceDispatcher, common/topic/TopicValidator.RMQ_SYS_TRACE_TOPIC.
select 'RMQ_SYS_TRACE_TOPIC' as topic
union
select m.topic from stored_messages m left semi join traces t on m.file = t.file and m.physical_offset = t.physical_offset
where m.traced and m.topic is not null
order by topic limit 1000
