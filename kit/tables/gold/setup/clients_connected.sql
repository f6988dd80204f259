-- One row per Java client that a broker saw connect, with its release: role (producer or consumer), group, client_id, version (number in
-- MQVersion), file and line of the first entry. At most 50,000 rows, in order of place.
with connected as (
  select case event when 'producer-connected' then 'producer' else 'consumer' end as role, value_group as `group`,
    value_client_id as client_id, value_version as version, file, line
  from all_events
  where event in ('producer-connected', 'consumer-connected') and source = 'broker' and value_language = 'JAVA'
), first as (
  select role, `group`, client_id, version, file, min(line) as line from connected group by role, `group`, client_id, version, file
), ranked as (
  select *, row_number() over (partition by role, `group`, client_id, version order by file) as nth from first
)
select role, `group`, client_id, version, file, line from ranked where nth = 1 order by file, line, role limit 50000
