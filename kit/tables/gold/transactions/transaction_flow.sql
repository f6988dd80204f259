-- One row per step that transactions took: source and target (half; answer: what the producer answered by itself; check; the state; what became of it at a
-- consumer). An op record on the original without a commit is the producer's own rollback, or its answer to a check that was not logged.
with ways as (
  select concat('answer ', case when a.first_exception then 'exception' when a.first_answer is not null then a.first_answer when t.of_original then 'COMMIT'
      when t.state = 'rolled_back' and t.op_half = t.half_offset then 'ROLLBACK' else 'none' end) as answer,
    coalesce(t.check_times, 0) > 0 as checked, concat(t.state, if(t.commits >= 2, ' twice', '')) as ended,
    case when t.dead then 'dead letter' when t.reconsumed > 0 then 'retried' end as consumer, count(*) as transactions
  from transactions t left join answered_transactions a on a.uniq_key = t.uniq_key where t.state is not null group by 1, 2, 3, 4
), steps as (
  select 1 as nth, 'half' as source, answer as target, transactions from ways
  union all select 2 as nth, answer as source, if(checked, 'check', ended) as target, transactions from ways
  union all select 3 as nth, 'check' as source, ended as target, transactions from ways where checked
  union all select 4 as nth, ended as source, consumer as target, transactions from ways where consumer is not null
)
select source, target, sum(transactions) as count from steps group by nth, source, target order by nth, source, target limit 100
