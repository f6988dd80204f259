-- One row per business row and transaction it belongs to. Its key is one of the message's KEYS, or its id the UNIQ_KEY; another cluster's row is not.
select t.uniq_key, b.key, b.file, b.line, b.status
from (
  select t.uniq_key, explode(split(t.keys, '\\s+')) as key, c.cluster from transactions t left join file_clusters c on c.file = t.half_file where with_row
) t join business_rows b on b.key = t.key and coalesce(b.cluster = t.cluster, true)
union
select t.uniq_key, b.key, b.file, b.line, b.status from transactions t join business_rows b on b.named = t.uniq_key where t.with_row
