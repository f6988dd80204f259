-- One row for each delivery in a consumer's ledger that names its message by an id: declared (the group in a column named like one), success (whether the
-- result means that the message took effect, by its words; an unknown word that is the result of most rows does too).
with named as (
  select * from rows where role = 'deliveries' and (uniq_key is not null or offset_msg_id is not null)
), counted as (
  select status, count(*) as deliveries from named group by status
), judged as (
  select status,
    case when count(*) over () > 50 or status = '' then null
      when status rlike '(?i)fail|error|(^|[^0-9A-Za-z_])err($|[^0-9A-Za-z_])|exce|later|reject|retry|retried|time.?out|refus|abort|cancel|roll.?back|rolled|skip|ignor|dup|repeat|already|received?$|start|begin|pending|null|none|^(false|no|n|f|ko|nok|not.?ok)$|失败|异常|错误|重试|超时|跳过|忽略|重复|已处理过|拒绝|收到|开始|待'
      then false
      when status rlike '(?i)succ|^ok($|[^0-9A-Za-z_])|(^|[^0-9A-Za-z_])ok$|done|grant|handled|processed|complet|finish|commit|consumed|applied|credited|saved|stored|accepted|sent|paid|^(true|yes|y|t)$|成功|完成|已处理|已发放|已消费|入账|发放'
      then true
      when deliveries * 2 > sum(deliveries) over () then true end as success
  from counted
)
select n.file, n.line, false as logged,
  try_element_at(filter(map_entries(n.cells), x -> x.key rlike '(?i)group|消费组|消费者组'), 1).value as declared,
  n.uniq_key, n.key, n.offset_msg_id, n.reconsume_times, n.status as result, j.success, n.time
from named n left join judged j on n.status = j.status
