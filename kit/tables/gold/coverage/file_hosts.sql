-- One row per commit log file and host that stored records in it, whatever their time: halves (half or op records are among them).
select file, store_host, bool_or(topic in ('RMQ_SYS_TRANS_HALF_TOPIC', 'RMQ_SYS_TRANS_OP_HALF_TOPIC')) as halves
from stored_messages where file is not null and store_host is not null
group by file, store_host
order by file, store_host
