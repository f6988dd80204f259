-- One row per acknowledged send to the master of a replica in the evidence (`replica_ends`), by its offset id: file, line, key, uniq_key,
-- offset_msg_id, start, missing (its record is at or after the replica's end). Sends to another broker say nothing about this one's replica.
select a.file, a.line, a.key, a.uniq_key, a.offset_msg_id, a.start, a.position >= lpad(hex(r.`end`), 16, '0') as missing
from acknowledged a join replica_ends r on a.host = r.host
