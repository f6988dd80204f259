-- One row per refusal by access control, file and source: what it names (reason, access_key, unknown_key, unknown_user, resource_type, resource,
-- user, kind, permission), n (entries), and ts, line, message, trace of the earliest. At most 5,000 rows, the earliest.
-- Source: acl/common/AclException (4.4.0 and later), auth/authentication and auth/authorization (5.3.0 and later).
with alike as (
  -- The values of equal entries are looked at once.
  select file, source, map_entries(e.values) as entries, count(*) as n, min(ts) as ts, min(line) as line
  from events e where e.event = 'access-denied' group by file, source, map_entries(e.values)
), earliest as (
  select *, map_from_entries(entries) as printed from alike order by ts nulls first, file, line limit 5000
)
select f.file, f.source, f.line, f.ts, printed['reason'] as reason, printed['access_key'] as access_key, printed['unknown_key'] as unknown_key,
  printed['unknown_user'] as unknown_user, printed['resource_type'] as resource_type, printed['resource'] as resource, printed['user'] as user,
  printed['kind'] as kind, printed['right'] as permission, f.n, e.message, e.trace
from earliest f left join entries e on f.file = e.file and f.line = e.line
order by f.ts nulls first, f.file, f.line
