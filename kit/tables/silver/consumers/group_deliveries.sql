-- One row per consumer group and delivery in the ledgers of its hosts: group, file, line, uniq_key, key, offset_msg_id.
select g.`group`, r.file, r.line, r.uniq_key, r.key, r.offset_msg_id
from rows r join group_ledgers g on r.file = g.file
