-- One row per what logs say of lost masters, by its values: what (exception, …). namesrv/routeinfo/RouteInfoManager, store/ha/HAClient.
with earliest as (
  select event, value_broker_id as broker_id, coalesce(value_address, value_address_2) as address, value_what as what, min(struct(ts, file, line)) as place
  from events where event in ('broker-lost', 'ha-read-failed') group by 1, 2, 3, 4
)
select event, broker_id, address, what, place.file as file, place.line as line, place.ts as ts from earliest
order by ts nulls first, file, line, event limit 20000
