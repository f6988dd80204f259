-- stored as Parquet
-- One row per transaction, and per dead letter that is not one (its `state` is null).
-- id, uniq_key; keys, topic, producer_group, born_host, cluster and immune (boolean: those properties are set) of the half message;
-- half_…, last_… (its last copy), op_…, commit_…, second_… (commit), discard_…: time, file and physical offset of the first such record, of half records
-- also queue (offset in the half queue); renewed_offset (of the first put-back copy), half_records, check_times (null before the first check),
-- op_half (offset of the half record that the op record ends), ops (half records ended), commits, named_first and named_last (least and greatest offset
-- of a half record that a commit names), named_commit (offset of the first commit of the former), of_original and of_copy (boolean: a commit names
-- the original, or a copy), dead (boolean), reconsumed, with_row (boolean: a business row belongs to it), state.
-- State, the first that fits: committed (a commit in a real topic, or on its way there) > rolled_back (an op record names one of its half records, no
-- commit, and the logs at hand are whole between the two) > discarded (moved to the check-limit topic, or reported by the log) > pending.
-- A commit with a damaged flag or topic is still one, for only a commit names a half record.
-- Source: broker/processor/EndTransactionProcessor, broker/transaction/queue/TransactionalMessageBridge, TransactionalMessageServiceImpl.check.
with brokers as (
  -- A number instead of a name in each of six columns, until the records of a message are one row: a third less memory.
  select distinct coalesce(f.file, b.file) as file, f.number, b.broker from files f full join store_brokers b on b.file = f.file
), placed_ops as (
  select coalesce(b.broker, '') as broker, o.half_queue_offset, o.store_timestamp, o.physical_offset, b.number from ops o left join brokers b on b.file = o.file
  where o.queue_id = 0 and o.half_queue_offset is not null
), named_by_ops as (
  select broker, half_queue_offset, count(*) as n, min(store_timestamp) as store_timestamp, min(physical_offset) as physical_offset, min(number) as number
  from placed_ops group by broker, half_queue_offset
), first_ops as (
  -- Only the few op records that end the same half record need an order.
  select broker, half_queue_offset, store_timestamp, physical_offset, number from named_by_ops where n = 1
  union all
  select broker, half_queue_offset, store_timestamp, physical_offset, number from (
    select p.*, row_number() over (partition by p.broker, p.half_queue_offset order by p.store_timestamp nulls last, p.physical_offset, p.number) as nth
    from named_by_ops n join placed_ops p on n.n > 1 and n.broker = p.broker and n.half_queue_offset = p.half_queue_offset
  ) where nth = 1
), gaps as (
  -- A commit may lie in one of those that begin before the op record: if the latest end of these follows the half record.
  select coalesce(unix_millis(after), -9223372036854775808) as begin,
    lead(coalesce(unix_millis(after), -9223372036854775808)) over (order by after nulls first, start) as next,
    max(coalesce(unix_millis(before), 9223372036854775807)) over (order by after nulls first, start rows unbounded preceding) as latest
  from stretches
), dated_ops as (
  -- Here, where a row is short: a join by ranges copies every row.
  select o.*, g.latest from first_ops o
  left join gaps g on g.begin <= unix_millis(o.store_timestamp) + 1 and (g.next is null or g.next > unix_millis(o.store_timestamp) + 1)
), ended as (
  select r.*, b.number, o.store_timestamp as op_time, o.physical_offset as op_offset, o.number as op_number, o.latest,
    case when half and not renewed then 'original' when half then 'renewed' when commits then 'commit' when discarded then 'discard' end as kind
  from transaction_records r left join brokers b on b.file = r.file
  left join dated_ops o on r.half and o.half_queue_offset = r.queue_offset and o.broker = coalesce(b.broker, '')
), several as (
  -- Only records of the few messages that have two of a kind need an order, and only those of a kind: a message may have leaked a million times.
  select id from transaction_records group by id having count_if(half) > 1 or count_if(commits) > 1 or count_if(discarded) > 1
), ordered as (
  select e.*, 1 as nth, 1 as back, 1 as by_name, 1 as by_op, case when kind = 'original' then physical_offset end as own
  from ended e left join several s on s.id = e.id where s.id is null or e.kind is null
  union all
  select *, max(case when kind = 'original' and nth = 1 then physical_offset end) over (partition by id) as own from (
    select e.*,
      row_number() over (partition by e.id, kind order by store_timestamp nulls first, physical_offset, file) as nth,
      row_number() over (partition by e.id, half order by store_timestamp desc nulls last, physical_offset desc, file desc) as back,
      row_number() over (partition by e.id, kind order by prepared, store_timestamp nulls first, physical_offset, file) as by_name,
      row_number() over (partition by e.id order by op_offset is null, op_time nulls last, op_offset, op_number, physical_offset) as by_op
    from ended e join several s on s.id = e.id where e.kind is not null
  )
), per_message as (
  -- By id alone, as records are split between cores for the join above: each group is made once.
  select id, min(uniq_key) as uniq_key,
    max(case when kind = 'original' and nth = 1 then keys end) as keys, max(case when kind = 'original' and nth = 1 then target end) as topic,
    max(case when kind = 'original' and nth = 1 then producer_group end) as producer_group,
    max(case when kind = 'original' and nth = 1 then born_host end) as born_host,
    max(case when kind = 'original' and nth = 1 then store_timestamp end) as half_time,
    max(own) as half_offset,
    max(case when kind = 'original' and nth = 1 then number end) as half_number,
    max(case when kind = 'original' and nth = 1 then queue_offset end) as half_queue,
    max(case when kind = 'renewed' and nth = 1 then physical_offset end) as renewed_offset,
    max(case when half and back = 1 then store_timestamp end) as last_time, max(case when half and back = 1 then physical_offset end) as last_offset,
    max(case when half and back = 1 then number end) as last_number, max(case when half and back = 1 then queue_offset end) as last_queue,
    count_if(half) as half_records, max(case when half then checks end) as check_times,
    max(case when by_op = 1 then op_time end) as op_time, max(case when by_op = 1 then op_offset end) as op_offset,
    max(case when by_op = 1 and op_offset is not null then physical_offset end) as op_half, max(case when by_op = 1 then op_number end) as op_number,
    max(case when by_op = 1 then latest end) as latest,
    count(op_offset) as ops, count_if(commits) as commits,
    max(case when commits and nth = 1 then store_timestamp end) as commit_time, max(case when commits and nth = 1 then physical_offset end) as commit_offset,
    max(case when commits and nth = 1 then number end) as commit_number,
    max(case when commits and nth = 2 then store_timestamp end) as second_time, max(case when commits and nth = 2 then physical_offset end) as second_offset,
    max(case when commits and nth = 2 then number end) as second_number,
    min(case when commits then prepared end) as named_first, max(case when commits then prepared end) as named_last,
    max(case when commits and by_name = 1 then physical_offset end) as named_commit,
    max(case when discarded and nth = 1 then store_timestamp end) as discard_time,
    max(case when discarded and nth = 1 then physical_offset end) as discard_offset,
    max(case when discarded and nth = 1 then number end) as discard_number,
    coalesce(bool_or(commits and prepared = own), false) as of_original, bool_or(waiting) as waiting, bool_or(dead) as dead, max(reconsume_times) as reconsumed,
    bool_or(kind = 'original' and nth = 1 and cluster is not null) as cluster,
    bool_or(kind = 'original' and nth = 1 and immune is not null) as immune
  from ordered group by id
), damaged as (
  select distinct r.id from transaction_records r join transaction_records h on h.id = r.id and h.half and h.physical_offset = r.prepared
  where r.ordinary and not r.commits and r.prepared > 0
), logged as (
  select distinct h.id from transaction_records h join events e on e.event = 'check-discard' and e.value_msg_id = h.offset_msg_id
  cross join discards_stored d
  where h.half and not d.kept
), with_rows as (
  select k.id from (
    select t.id, explode(split(t.keys, '\\s+')) as key, c.cluster from transaction_records t left join file_clusters c on c.file = t.file
    where half and not renewed
  ) k join business_rows r on r.key = k.key and coalesce(r.cluster = k.cluster, true)
  union
  select m.id from transaction_records m join business_rows r on r.named = m.uniq_key
)
select m.id, uniq_key, keys, topic, producer_group, born_host, half_time, half_offset, half_of.file as half_file, half_queue,
  renewed_offset, last_time, last_offset, last_of.file as last_file, last_queue, half_records, check_times, op_time, op_offset, op_half,
  op_of.file as op_file, ops, commits, commit_time, commit_offset, commit_of.file as commit_file,
  second_time, second_offset, second_of.file as second_file, named_first, named_last, named_commit,
  m.of_original or coalesce(m.half_offset in (m.named_first, m.named_last), false) as of_original,
  coalesce(coalesce(m.half_offset, -1) <> m.named_first or coalesce(m.half_offset, -1) <> m.named_last, false) as of_copy,
  discard_time, discard_offset, discard_of.file as discard_file, dead, reconsumed, cluster, immune, b.id is not null as with_row,
  case when m.half_offset is null then null when m.commits > 0 or m.waiting or d.id is not null then 'committed'
    when m.ops > 0 and coalesce(m.latest < unix_millis(m.half_time) - 1, true) then 'rolled_back'
    when m.discard_offset is not null or l.id is not null then 'discarded' else 'pending' end as state
from per_message m
left join damaged d on d.id = m.id
left join logged l on l.id = m.id
left join with_rows b on b.id = m.id
left join files half_of on half_of.number = m.half_number
left join files last_of on last_of.number = m.last_number
left join files op_of on op_of.number = m.op_number
left join files commit_of on commit_of.number = m.commit_number
left join files second_of on second_of.number = m.second_number
left join files discard_of on discard_of.number = m.discard_number
