-- One row per SendStatus in the send ledgers, and one (status null) for all other rows: status, sends, named (of these acknowledged with an offset id).
-- At most 5 rows. FLUSH_SLAVE_TIMEOUT and SLAVE_NOT_AVAILABLE: stored by the master, not by its slave (client/producer/SendStatus).
with answers as (
  select case when upper(trim(outcome)) in ('SEND_OK', 'FLUSH_DISK_TIMEOUT', 'FLUSH_SLAVE_TIMEOUT', 'SLAVE_NOT_AVAILABLE') then upper(trim(outcome)) end
    as status, count(*) as sends
  from sends group by 1
), places as (
  select count(host) as named from acknowledged
)
select status, sends, case when status = 'SEND_OK' then named else 0 end as named from answers cross join places order by status
