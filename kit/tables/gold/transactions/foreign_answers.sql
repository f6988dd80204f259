-- One row per answer to a check from another host than the one that wrote the half message (ports differ after a reconnect), or from a connection of that
-- host on which only another process wrote half messages while the first one did, too: else the one was started again as the other. Wrong: ROLLBACK for a
-- transaction whose row exists or that was committed, or never COMMIT, where the group's own hosts do not answer so (else the application is at fault).
with halves as (
  select regexp_replace(born_host, '[/\\[\\]]', '') as connection, regexp_replace(uniq_key, '.{12}$', '') as process, half_time from transactions
), processes as (
  select process, min(half_time) as first, max(half_time) as last from halves group by process
), connections as (
  select connection, min(process) as writer from halves group by connection having count(distinct process) = 1
), hosts as (
  select a.uniq_key, t.keys as key, t.producer_group, a.answer, a.address, t.born_host, t.with_row as row_stands, t.state = 'committed' as committed, a.ts,
    a.file, a.line, t.half_file, t.half_offset as half_physical_offset,
    lower(regexp_replace(regexp_replace(a.address, ':[0-9]+$', ''), '^[/\\[]+|\\]+$', '')) as asked,
    lower(regexp_replace(regexp_replace(t.born_host, ':[0-9]+$', ''), '^[/\\[]+|\\]+$', '')) as born,
    c.writer <> own.process and its.first <= own.last as beside
  from transaction_answers a join transactions t on t.uniq_key = a.uniq_key
  left join processes own on own.process = regexp_replace(t.uniq_key, '.{12}$', '')
  left join connections c on c.connection = regexp_replace(a.address, '[/\\[\\]]', '')
  left join processes its on its.process = c.writer
  where a.from_check and t.state is not null
), judged as (
  select *, coalesce(asked <> born, false) or coalesce(beside, false) as away, answer = 'ROLLBACK' and (row_stands or committed) as bad from hosts
), groups as (
  select producer_group, count_if(not away) as home, count_if(not away and bad) as bad_at_home, count_if(not away and answer <> 'COMMIT') as unsure_at_home,
    count_if(away and answer = 'COMMIT') as commits_away, count_if(away) as answers_away
  from judged group by producer_group
)
select j.uniq_key, j.key, j.producer_group, j.answer, j.address, j.born_host, j.row_stands, j.committed,
  (j.bad and g.home > 0 and g.bad_at_home = 0)
    or (j.answer <> 'COMMIT' and g.home > 0 and g.unsure_at_home = 0 and g.commits_away = 0 and g.answers_away >= 3) as wrong,
  j.ts, j.file, j.line, j.half_file, j.half_physical_offset
from judged j join groups g on g.producer_group = j.producer_group
where j.away
order by j.ts, j.file, j.line, j.uniq_key limit 100000
