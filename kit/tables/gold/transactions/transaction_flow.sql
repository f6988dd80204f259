-- One row per step that transactions took: source and target (half, answer and what the producer answered by itself, check, the state, twice if it was
-- committed twice, what became of it at a consumer: see `transaction_steps`), count (transactions). At most 100 rows, from half to the consumers.
with ways as (
  select concat('answer ', local) as answer, checks > 0 as checked, concat(state, if(commits = 2, ' twice', '')) as ended, consumer, count(*) as transactions
  from transaction_steps group by local, checks > 0, state, commits, consumer
), steps as (
  select 1 as nth, 'half' as source, answer as target, transactions from ways
  union all select 2 as nth, answer as source, if(checked, 'check', ended) as target, transactions from ways
  union all select 3 as nth, 'check' as source, ended as target, transactions from ways where checked
  union all select 4 as nth, ended as source, consumer as target, transactions from ways where consumer is not null
)
select source, target, sum(transactions) as count from steps group by nth, source, target order by nth, source, target limit 100
