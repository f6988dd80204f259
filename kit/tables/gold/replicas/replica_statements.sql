-- One row per what logs say of lost masters, by its values: event (broker-lost, ha-read-failed), broker_id, address, what (exception, …),
-- file, line, ts of its earliest entry. At most 20,000 rows. namesrv/routeinfo/RouteInfoManager, store/ha/HAClient.
with printed as (
  select event, value_broker_id as broker_id, coalesce(value_address, value_address_2) as address, value_what as what,
    file, line, ts
  from events where event in ('broker-lost', 'ha-read-failed')
), numbered as (
  select *, row_number() over (partition by event, broker_id, address, what order by ts nulls first, file, line) as nth from printed
)
select event, broker_id, address, what, file, line, ts from numbered where nth = 1 order by ts nulls first, file, line, event limit 20000
