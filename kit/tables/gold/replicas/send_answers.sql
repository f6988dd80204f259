-- One row per SendStatus in the send ledgers: status, sends, named (of these acknowledged with an offset id). At most 4 rows.
-- FLUSH_SLAVE_TIMEOUT and SLAVE_NOT_AVAILABLE: stored by the master, not by its slave (client/producer/SendStatus).
with answers as (
  select upper(trim(outcome)) as status, count(*) as sends from sends
  where upper(trim(outcome)) in ('SEND_OK', 'FLUSH_DISK_TIMEOUT', 'FLUSH_SLAVE_TIMEOUT', 'SLAVE_NOT_AVAILABLE')
  group by upper(trim(outcome))
), places as (
  select count(host) as named from acknowledged
)
select status, sends, case when status = 'SEND_OK' then named else 0 end as named from answers cross join places order by status
