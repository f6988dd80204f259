-- The rows of `store_ends` that are of slaves' stores, all of them where no slave is known; host as an offset id has it.
with copied as (
  select distinct x.store_host from store_extent x join file_brokers f on f.file = x.file where f.slave
)
select e.*, h.host from store_ends e
left join copied c on c.store_host = e.store_host
left join (select distinct store_host, host from store_brokers) h on h.store_host = e.store_host
where c.store_host is not null or (select count_if(slave) from file_brokers) = 0
order by e.store_host
