-- The curve of leaked messages as logs show it, where there is no commit log: seq (copies: the leaked messages, and one more for each COMMIT answer
-- to a check of one of them, which is diverted back into the half topic), store_timestamp (of the answer), half_queue_offset, check_times (null: the
-- log of the answers prints neither), uniq_key, doubling (seq is messages × 2^k). At most 4,096 rows or so, in order of seq.
-- Which messages leaked is printed by common/message/MessageExt.toString, the answers by broker/processor/EndTransactionProcessor.
with leaked as (
  select distinct upper(regexp_extract(message, '[{ ]UNIQ_KEY=([0-9A-Fa-f]{32,56})', 1)) as uniq_key
  from entries where array_contains(events, 'leaked-half-printed')
), answered as (
  select a.uniq_key, a.ts, (select count(*) from leaked where uniq_key <> '') as messages, row_number() over (order by a.ts, a.file, a.line) as nth
  from transaction_answers a left semi join leaked l on a.uniq_key = l.uniq_key
  where a.from_check and a.answer = 'COMMIT' and a.ts is not null
), counted as (
  select *, messages + nth - 1 as seq, count(*) over () as answers from answered
), marks as (
  select messages * cast(pow(2, k) as bigint) as mark from (select distinct messages from answered) cross join (select explode(sequence(0, 40)) as k)
)
select c.seq, c.ts as store_timestamp, cast(null as bigint) as half_queue_offset, cast(null as int) as check_times, c.uniq_key,
  m.mark is not null as doubling
from counted c left join marks m on m.mark = c.seq
where c.nth % greatest(1, c.answers div 4000) = 0 or c.nth = 1 or c.nth = c.answers or m.mark is not null
order by c.seq
