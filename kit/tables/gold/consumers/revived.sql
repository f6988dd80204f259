-- One row per queue of rmq_sys_REVIVE_LOG_ + cluster in which a broker read on what it had handed out by POP. broker/processor/PopReviveService.
select distinct topic, queue_id from saved_offsets where `group` = 'CID_RMQ_SYS_REVIVE_GROUP' and value > 0 order by topic, queue_id limit 1000
