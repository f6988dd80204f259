-- One row per value of CHECK_IMMUNITY_TIME_IN_SECONDS in half messages: seconds (as written), file, physical_offset of the first record with it.
-- TransactionalMessageServiceImpl.checkImmunityTime. At most 1,000 rows.
select seconds, place.file as file, place.physical_offset as physical_offset from (
  select property_CHECK_IMMUNITY_TIME_IN_SECONDS as seconds, min(struct(file, physical_offset)) as place from stored_messages
  where topic = 'RMQ_SYS_TRANS_HALF_TOPIC' and property_CHECK_IMMUNITY_TIME_IN_SECONDS is not null group by 1
) order by seconds limit 1000
