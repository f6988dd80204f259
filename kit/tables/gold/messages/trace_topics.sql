-- One row per topic of clients' message traces (AsyncTraceDispatcher): TopicValidator.RMQ_SYS_TRACE_TOPIC, and those whose records are traces.
select 'RMQ_SYS_TRACE_TOPIC' as topic
union
select m.topic from stored_messages m left semi join traces t on m.file = t.file and m.physical_offset = t.physical_offset
where m.traced and m.topic is not null
order by topic limit 1000
