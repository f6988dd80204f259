-- One row per consumer group and delivery ledger of its hosts (folders): group, file. A group one of whose hosts has no ledger has no row: what it
-- handled is not known. At most as many rows as `group_logs` and ledgers have in common folders.
with ledgers as (
  select file, regexp_replace(file, '(^|/)[^/]*$', '') as host from files where kind = 'rows' and role = 'deliveries'
), hosts as (
  select distinct `group`, regexp_replace(file, '(^|/)[^/]*$', '') as host from group_logs
), matched as (
  select h.`group`, l.file, min(l.file is not null) over (partition by h.`group`) as whole from hosts h left join ledgers l on l.host = h.host
)
select `group`, file from matched where whole order by `group`, file
