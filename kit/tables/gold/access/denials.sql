-- One row per refusal by access control, file and source: what it names (reason, access_key, unknown_key, unknown_user, resource_type, resource,
-- user, kind, permission), n (entries), and ts, line, message, trace of the earliest. At most 5,000 rows, the earliest.
-- Source: acl/common/AclException (4.4.0 and later), auth/authentication and auth/authorization (5.3.0 and later).
with said as (
  select e.file, e.source, e.line, e.ts, e.values['reason'] as reason, e.values['access_key'] as access_key, e.values['unknown_key'] as unknown_key,
    e.values['unknown_user'] as unknown_user, e.values['resource_type'] as resource_type, e.values['resource'] as resource,
    e.values['user'] as user, e.values['kind'] as kind, e.values['right'] as permission
  from events e where e.event = 'access-denied'
), numbered as (
  select *,
    count(*) over (partition by file, source, reason, access_key, unknown_key, unknown_user, resource_type, resource, user, kind, permission) as n,
    row_number() over (
      partition by file, source, reason, access_key, unknown_key, unknown_user, resource_type, resource, user, kind, permission
      order by ts nulls first, line
    ) as nth
  from said
), earliest as (
  select * from numbered where nth = 1 order by ts nulls first, file, line limit 5000
)
select f.file, f.source, f.line, f.ts, f.reason, f.access_key, f.unknown_key, f.unknown_user, f.resource_type, f.resource, f.user, f.kind,
  f.permission, f.n, e.message, e.trace
from earliest f left join entries e on f.file = e.file and f.line = e.line
order by f.ts nulls first, f.file, f.line
