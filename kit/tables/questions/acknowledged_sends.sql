-- The acknowledged sends of a message by its UNIQ_KEYs or keys (`names`): file, line, offset_msg_id. The first 200.
select file, line, offset_msg_id from acknowledged
where offset_msg_id is not null and (array_contains(:names, uniq_key) or array_contains(:names, key))
order by file, line limit 200
