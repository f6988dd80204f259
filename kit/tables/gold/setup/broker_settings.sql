-- One row per setting of a broker (`settings`), what counts first: address (ip:port of the broker, null if unknown). What the running broker answers
-- counts before what it printed at its start, and this before its configuration; of several logs the one that goes on longest, of several lines the last.
with placed as (
  select s.file, s.origin, s.subject, s.name, s.value, s.backup, s.line, row_number() over (
    order by case s.origin when 'getBrokerConfig' then 0 when 'broker.log' then 1 else 2 end, coalesce(s.backup, false),
      coalesce(f.last, timestamp_micros(0)) desc, s.file, s.line desc, s.subject, s.name, s.value) as nth
  from settings s left join files f on f.file = s.file
  where s.origin in ('getBrokerConfig', 'broker.log', 'broker.conf')
), named as (
  select file, subject, min(case when name = 'brokerIP1' then struct(nth, value) end).value as ip,
    min(case when name = 'listenPort' then struct(nth, value) end).value as port
  from placed where name in ('brokerIP1', 'listenPort') group by file, subject
)
select p.file, p.origin, p.subject, p.name, p.value, p.backup, p.line, concat(nullif(n.ip, ''), ':', coalesce(n.port, '10911')) as address
from placed p left join named n on n.file = p.file and n.subject <=> p.subject
order by p.nth
