-- One row per consumer group and delivery ledger of its hosts (folders). A group one of whose hosts has no ledger, or with connections from more addresses
-- than there are hosts here, has no row: what it handled is not known. At most as many rows as `group_logs` and ledgers have in common folders.
with ledgers as (
  select file, regexp_replace(file, '(^|/)[^/]*$', '') as host from files where kind = 'rows' and role = 'deliveries'
), hosts as (
  select distinct `group`, regexp_replace(file, '(^|/)[^/]*$', '') as host from group_logs
), counted as (
  select h.`group`, h.hosts, coalesce(c.addresses, 0) as addresses
  from (select `group`, count(*) as hosts from hosts group by `group`) h
  left join (
    select `group`, count(distinct regexp_replace(address, ':[0-9]+$', '')) as addresses from client_connections where address <> '' group by `group`
  ) c on c.`group` = h.`group`
), matched as (
  select h.`group`, l.file, min(l.file is not null) over (partition by h.`group`) as whole from hosts h left join ledgers l on l.host = h.host
)
select m.`group`, m.file from matched m join counted c on c.`group` = m.`group` where m.whole and c.addresses <= c.hosts order by m.`group`, m.file
