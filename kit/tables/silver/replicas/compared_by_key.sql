-- One row per acknowledged send, by its keys, where no ledger has offset ids: missing (no record has its key or UNIQ_KEY, and it was sent at most 10
-- s before the replica's last record). What is older than the store was deleted, not lost; what was sent long before its end and is not there is
-- another broker's. The UNIQ_KEYs that a batch was answered with are not stored from 4.8.0 to 5.3.3 (`repeated_originals`).
with words as (
  select xxhash64(uniq_key) as id from records where uniq_key is not null
  union all
  select xxhash64(keys) as id from records where keys is not null
  union all
  select xxhash64(word) as id from (select explode(split(keys, ' ')) as word from records where keys like '% %') w
), stored as (
  select distinct id from words
), sent as (
  select *, case when key is not null then xxhash64(key) end as key_id, case when uniq_key is not null then xxhash64(uniq_key) end as uniq_id
  from acknowledged
), since as (
  select greatest(min(first_time), max(last_time) - interval 10 seconds) as since from replica_ends
)
select s.file, s.line, s.key, s.uniq_key, s.offset_msg_id, s.start,
  k.id is null and u.id is null and (s.key is not null or coalesce(s.uniq_key not like '%,%', false)) and coalesce(s.start >= l.since, false) as missing
from sent s cross join since l left join stored k on s.key_id = k.id left join stored u on s.uniq_id = u.id
