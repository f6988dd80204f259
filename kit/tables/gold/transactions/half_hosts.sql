-- One row per commit log file with half or op records and host that stored them, whatever their time: file, host (as in offset message ids: everything
-- before the 16 digits of the offset; a damaged record has none). At most a few rows a file.
select distinct file, host from (
  select file, store_host, min(left(offset_msg_id, length(offset_msg_id) - 16)) as host
  from stored_messages
  where topic in ('RMQ_SYS_TRANS_HALF_TOPIC', 'RMQ_SYS_TRANS_OP_HALF_TOPIC')
  group by file, store_host
) where file is not null and host is not null
order by file, host
