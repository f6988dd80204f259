-- One row per business row and transaction it belongs to: uniq_key, key, file, line, status. Its key is one of the message's KEYS, or its message id the
-- UNIQ_KEY.
select t.uniq_key, b.key, b.file, b.line, b.status
from (select uniq_key, explode(split(keys, '\\s+')) as key from transactions where with_row) t join business_rows b on b.key = t.key
union
select t.uniq_key, b.key, b.file, b.line, b.status from transactions t join business_rows b on b.named = t.uniq_key where t.with_row
