-- One row per refusal by access control, file and source: why, name (whom or what it is about), what it prints, n (entries), and the earliest. Source:
-- acl/common/AclException (4.4.0 and later), auth/authentication and auth/authorization (5.3.0 and later).
with alike as (
  -- The values of equal entries are looked at once.
  select file, source, map_entries(e.values) as entries, count(*) as n, min(ts) as ts, min(line) as line
  from events e where e.event = 'access-denied' group by file, source, map_entries(e.values)
), earliest as (
  select *, map_from_entries(entries) as printed from alike order by ts nulls first, file, line limit 5000
), named as (
  select file, source, line, ts, n, printed['reason'] as reason, printed['access_key'] as access_key, printed['unknown_key'] as unknown_key,
    printed['unknown_user'] as unknown_user, printed['no_key'] as printed_no_key, printed['resource'] as resource, concat(printed['resource_type'], ' ', printed['resource']) as denied,
    concat(lower(coalesce(printed['kind'], '')), ' ', printed['right'], ' (', printed['user'], ')') as permission
  from earliest
), judged as (
  select *, case when access_key <> '' or reason like '%ignature%' then 'wrong-secret'
    when unknown_key <> '' or unknown_user <> '' or reason like '% not found.%' then 'unknown-user'
    when printed_no_key <> '' then 'no-key'
    when permission <> '' or resource <> '' or reason like '%no permission%' then 'no-right' else 'other' end as why
  from named
)
select f.why, coalesce(case f.why when 'wrong-secret' then access_key when 'unknown-user' then coalesce(unknown_key, unknown_user, reason)
    when 'no-right' then coalesce(permission, denied, reason) when 'other' then reason end, '') as name,
  f.reason, f.access_key, f.unknown_key, f.resource, f.n, f.file, f.source, f.line, f.ts, e.message, e.trace
from judged f left join entries e on f.file = e.file and f.line = e.line
order by f.ts nulls first, f.file, f.line
