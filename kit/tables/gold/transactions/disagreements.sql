-- One row per ended transaction that disagrees with its business row: cause (null if no log shows it), evidence_… (of the cause).
with wrong as (
  select * from disagreeing_transactions order by stored, uniq_key limit 100000
), anchors as (
  -- A key is looked for in texts by its longest word, if it has four characters or more.
  select key, max(struct(length(word) as length, word)).word as word
  from (select key, explode(split(key, '[^\\p{L}\\p{N}_-]+')) as word from (select distinct key from wrong where length(key) >= 4))
  where word <> '' group by key
), failures as (
  -- Errors of producing applications: they print send results, or their trace runs through the transaction listener; consumers' do not count.
  select e.ts, e.file, e.line, concat_ws('\n', e.message, e.trace) as text
  from entries e left join (select distinct file from events where event = 'send-result') s on s.file = e.file
  where e.source in ('app', 'text') and (upper(e.level) in ('ERROR', 'FATAL', 'SEVERE') or e.message like '%Exception%' or e.trace like '%Exception%')
    and (s.file is not null or concat_ws('\n', e.message, e.trace) rlike 'executeLocalTransaction|sendMessageInTransaction|checkLocalTransaction')
    and concat_ws('\n', e.message, e.trace) not like '%consumeMessage%'
), words as (
  select ts, file, line, text, explode(array_distinct(split(substring(text, 1, 20000), '[^\\p{L}\\p{N}_-]+'))) as word
  from failures cross join (select count(*) as keys from anchors) where keys > 0
), causes as (
  select uniq_key, how, ts, file, line from transaction_errors
  union all
  select w.uniq_key, 'error', f.ts, f.file, f.line
  from words f join anchors a on a.word = f.word join wrong w on w.key = a.key
  where instr(f.text, a.key) > 0
  union all
  select a.uniq_key, case when a.answer = 'ROLLBACK' then 'rollback_answer' else 'commit_answer' end, a.ts, a.file, a.line
  from transaction_answers a join wrong w on w.uniq_key = a.uniq_key
  where a.answer = case when w.kind = 'row_without_message' then 'ROLLBACK' else 'COMMIT' end
), listed as (
  select c.uniq_key, concat_ws(' + ', sort_array(collect_set(c.how))) as all_causes, min(struct(
    case c.how when 'exception' then 0 when 'error' then 1 when 'rollback_answer' then 3 when 'commit_answer' then 4 else 2 end as rank,
    c.ts, c.file, c.line, c.how)) as first
  from causes c left semi join wrong w on w.uniq_key = c.uniq_key group by c.uniq_key
)
select w.kind, w.key, w.uniq_key, w.state, l.first.how as cause, case w.kind when 'row_without_message' then 're-send' else 'compensate' end as repair,
  l.first.file as evidence_file, l.first.line as evidence_line, w.row_file, w.row_line, w.row_status, w.topic, w.producer_group, w.half_file, w.half_physical_offset,
  w.end_file, w.end_physical_offset, w.stored, l.all_causes
from wrong w left join listed l on l.uniq_key = w.uniq_key
where w.covered or coalesce(l.first.how in ('exception', 'error'), false)
order by w.stored, w.uniq_key
