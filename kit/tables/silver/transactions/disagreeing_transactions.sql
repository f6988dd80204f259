-- stored as Parquet
-- One row per finished or discarded transaction that disagrees with its business row: kind (row_without_message, message_without_row), end_physical_offset
-- (op, commit or discarded record), stored (of the half message), covered (boolean: the half message is between messages that have their rows; outside, a
-- row may be missing only because the table was cut there). A row whose status says that it was taken back agrees with a message that was rolled back; a
-- message without a row counts if the evidence has rows of its producer group in its cluster; a row whose key belongs to another, committed transaction too was repeated.
with spans as (
  select t.producer_group, c.cluster, min(t.half_time) as begin, max(t.half_time) as end
  from transactions t left join file_clusters c on c.file = t.half_file where t.with_row and t.half_time is not null group by t.producer_group, c.cluster
), standing as (
  select uniq_key, key, file, line, status from (
    select *, row_number() over (partition by uniq_key order by key, file, line, status) as nth from transaction_rows
    where not coalesce(status rlike '(?i)cancel|clos|fail|reject|refus|roll|void|invalid|abort|delet|expire|timeout|denied|error|取消|关闭|失败|拒绝|作废|回滚|无效|删除|超时', false)
  ) where nth = 1
), done as (
  select distinct r.key from transaction_rows r join transactions t on t.uniq_key = r.uniq_key where t.state = 'committed'
), alone as (
  select t.*, r.key as row_key, r.file as row_file, r.line as row_line, r.status as row_status, true as covered
  from transactions t join standing r on r.uniq_key = t.uniq_key left anti join done d on d.key = r.key
  where t.state in ('rolled_back', 'discarded')
  union all
  select t.*, cast(null as string), null, null, null, coalesce(t.half_time between s.begin and s.end, false)
  from transactions t left join file_clusters c on c.file = t.half_file
  join spans s on s.producer_group <=> t.producer_group and s.cluster <=> c.cluster
  where t.state = 'committed' and not t.with_row
)
select case when state = 'committed' then 'message_without_row' else 'row_without_message' end as kind,
  coalesce(row_key, split(keys, '\\s+')[0]) as key, uniq_key, state, row_file, row_line, row_status, topic, producer_group, half_file,
  half_offset as half_physical_offset,
  case state when 'committed' then commit_file when 'rolled_back' then op_file else discard_file end as end_file,
  case state when 'committed' then commit_offset when 'rolled_back' then op_offset else discard_offset end as end_physical_offset,
  half_time as stored, covered
from alone
