-- One row per writer of leaked schedule records (consumer, check, commit) and target (the REAL_TOPIC they carry): writer, target, records. At most 6 rows.
-- A leaked schedule record came from the consumer (reconsumed), from a check's put-back, or from a commit; it goes where its REAL_TOPIC says.
select case when itself then 'commit' when reconsume_times > 0 and check_times is null then 'consumer' else 'check' end as writer,
  real_topic as target, count(*) as records
from leaked_records where topic = 'SCHEDULE_TOPIC_XXXX'
group by 1, 2 order by writer, target
