-- The UNIQ_KEYs that the tables of consumers and senders give for an id (`id`) or a business key (`key`): the first 200.
select distinct uniq_key from (select uniq_key, offset_msg_id, key from rows union all select uniq_key, offset_msg_id, key from sends)
where uniq_key is not null and (uniq_key = :id or offset_msg_id = :id or key = :key)
order by uniq_key limit 200
