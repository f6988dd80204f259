-- One row per value of CHECK_IMMUNITY_TIME_IN_SECONDS in half messages: seconds (as written), file, physical_offset of the first record with it.
-- TransactionalMessageServiceImpl.checkImmunityTime. At most 1,000 rows.
with first as (
  select property_CHECK_IMMUNITY_TIME_IN_SECONDS as seconds, file, min(physical_offset) as physical_offset
  from stored_messages
  where topic = 'RMQ_SYS_TRANS_HALF_TOPIC' and property_CHECK_IMMUNITY_TIME_IN_SECONDS is not null
  group by property_CHECK_IMMUNITY_TIME_IN_SECONDS, file
), ranked as (
  select *, row_number() over (partition by seconds order by file) as nth from first
)
select seconds, file, physical_offset from ranked where nth = 1 order by seconds limit 1000
