-- One row per file in which a store says itself that it takes no writes: event (store-not-writable, or store-shutdown for a write after the shutdown; every
-- stop ends with such writes, they count only where somebody was refused). A line that says that the disk is full, or that does not say why while another
-- one marks a disk full, is of no other reason. store/DefaultMessageStore.checkStoreStatus, store/RunningFlags (16 DISK_FULL_BIT, 64 LOGIC_DISK_FULL_BIT).
with refused as (
  select count(*) as n from events
  where event = 'no-permission' or (event = 'service-not-available'
    and coalesce(greatest(try_cast(value_commitlog as double), try_cast(value_consumequeue as double)), 0.0) < 0.9)
), full as (
  select count(*) as marks from disk_answers where state in ('marked', 'full')
), statements as (
  select e.event, e.file, e.line, e.ts from events e cross join refused r cross join full
  where (e.event = 'store-not-writable' and e.source <> 'client' and (marks = 0 or coalesce(e.value_what, '') = 'slave mode'
    or floor(try_cast(regexp_extract(e.value_what, '([0-9]+)$', 1) as bigint) / 16) % 2 = 0)) or (e.event = 'store-shutdown' and e.value_what = 'putMessage' and r.n > 0)
), own as (
  select s.* from statements s left anti join (select file, line from events where event = 'service-not-available') a
    on s.event = 'store-not-writable' and s.file = a.file and s.line = a.line
)
select event, file, n, place.ts as first, place.line as line
from (select event, file, count(*) as n, min(struct(ts, line)) as place from own group by event, file) order by event, first nulls first, file
