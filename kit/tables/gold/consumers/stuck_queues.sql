-- One row per queue of a consumer group that was stuck while others went on (`queue_courses`): topic, queue_id, queue_offset (of the message it is at).
-- As many rows as such queues, which are different in topic, queue or offset.
select distinct topic, queue_id, coalesce(stand_offset, 0) as queue_offset from queue_courses
where others > 0 and not startswith(topic, '%RETRY%') and not startswith(topic, '%DLQ%')
order by topic, queue_id, queue_offset
