-- One row in all: uniq_keys (messages, told apart by UNIQ_KEY), several (those of them with more than one record, so with several offset ids).
-- The offset id is made at every append (common/message/MessageDecoder.createMessageId), UNIQ_KEY once (MessageClientIDSetter).
select count(*) as uniq_keys, count_if(records > 1) as several
from (select id, count(*) as records from records where uniq_key is not null group by id)
