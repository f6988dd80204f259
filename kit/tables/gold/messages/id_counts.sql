-- One row in all: several (UNIQ_KEYs with more than one record, so with several offset ids, made at every append: MessageDecoder.createMessageId).
select count(*) as uniq_keys, count_if(records > 1) as several
from (select id, count(*) as records from records where uniq_key is not null group by id)
