-- One row for each line of an application's log that names a stored message by an id (of several the greatest) and is not a sender's.
with lines as (
  select file, line, ts, level, message,
    array_distinct(filter(regexp_extract_all(message, '[0-9A-Za-z]{32,}', 0), x -> x rlike '^([0-9A-F]{56}|[0-9A-F]{32}|01[0-9A-F]{32})$')) as ids
  from entries
  where source = 'app' and (known is null or known <> 'send-result') and message rlike '[0-9A-F]{32}'
    and not coalesce(array_contains(events, 'send-result'), false)
), judged as (
  select file, line, ts, ids,
    try_cast(regexp_extract(message, '(?i)reconsume_?times?[^0-9A-Za-z_]{0,3}([0-9]{1,3})', 1) as int) as times,
    coalesce(level, '') in ('ERROR', 'WARN', 'FATAL', 'WARNING') or message rlike '(?i)fail|error|exception|will retry|retry later|reconsume.?later|timeout|timed out|reject|skip|ignor|duplicate|already|rolled? ?back|not (ok|done|processed)|失败|异常|错误|稍后|超时|跳过|忽略|重复|回滚|未' as bad,
    message rlike '(?i)(^|[^0-9A-Za-z_])(granted|succeed[0-9A-Za-z_]*|success[0-9A-Za-z_]*|done|handled|processed|completed|finished|consumed|applied|credited|saved|consume ok)($|[^0-9A-Za-z_])|成功|完成|已处理|已发放|已消费|入账' as good
  from lines
), named as (
  select file, line, explode(ids) as id from judged
), keys as (
  select n.file, n.line, n.id as uniq_key, cast(null as string) as key_of_copy, cast(null as string) as offset_msg_id
  from named n left semi join records r on n.id = r.uniq_key
  union all
  select n.file, n.line, cast(null as string), r.uniq_key, r.offset_msg_id
  from named n join records r on n.id = r.offset_msg_id
  where r.uniq_key is not null
), meant as (
  select file, line, coalesce(max(uniq_key), max(key_of_copy)) as uniq_key, max(offset_msg_id) as offset_msg_id
  from keys group by file, line
)
select j.file, j.line, true as logged, cast(null as string) as declared, t.uniq_key, cast(null as string) as key, t.offset_msg_id,
  j.times as reconsume_times, case when j.bad then 'FAIL' when j.good then 'OK' end as result,
  case when j.bad then false when j.good then true end as success, j.ts as time
from meant t join judged j on t.file = j.file and t.line = j.line
