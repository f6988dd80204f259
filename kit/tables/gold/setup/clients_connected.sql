-- One row per Java client that a broker saw connect, with its release: role (producer or consumer), version (number in MQVersion), the first entry.
with connected as (
  select case event when 'producer-connected' then 'producer' else 'consumer' end as role, value_group as `group`,
    value_client_id as client_id, value_version as version, file, line
  from all_events
  where event in ('producer-connected', 'consumer-connected') and source = 'broker' and value_language = 'JAVA'
)
select role, `group`, client_id, version, place.file as file, place.line as line from (
  select role, `group`, client_id, version, min(struct(file, line)) as place from connected group by 1, 2, 3, 4
) order by file, line, role limit 50000
