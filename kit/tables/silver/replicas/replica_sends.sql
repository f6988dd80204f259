-- One row per acknowledged send to the master of a replica in the evidence (`replica_ends`): file, line, key, uniq_key, offset_msg_id, start, host, missing
-- (its record is at or after the replica's end, by its offset id; where no ledger has these, `compared_by_key`). Sends to another broker say nothing.
select a.file, a.line, a.key, a.uniq_key, a.offset_msg_id, a.start, a.position >= lpad(hex(r.`end`), 16, '0') as missing, a.host
from acknowledged a join replica_ends r on a.host = r.host
union all
select k.*, cast(null as string) as host from compared_by_key k cross join (select sum(named) as named from send_answers) a where coalesce(a.named, 0) = 0
