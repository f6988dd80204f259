-- One row per path that transactions took and producer group: local, checks, last_check, state, commits, consumer (see `transaction_steps`),
-- producer_group, transactions, first, any_of_them, last (UNIQ_KEYs of up to three examples), path. At most 2,000 rows, most common first.
with hashed as (
  select *, xxhash64(local, checks, coalesce(last_check, ''), state, commits, coalesce(consumer, ''), coalesce(producer_group, '')) as way
  from transaction_steps
), paths as (
  select way, count(*) as transactions, min(half_time) as begin, max(half_time) as end, min(id) as any_id from hashed group by way
)
select h.local, h.checks, h.last_check, h.state, h.commits, h.consumer, h.producer_group, max(p.transactions) as transactions,
  min(case when h.half_time = p.begin then h.uniq_key end) as first, min(case when h.id = p.any_id then h.uniq_key end) as any_of_them,
  max(case when h.half_time = p.end then h.uniq_key end) as last, h.path
from hashed h join paths p on p.way = h.way
where h.half_time = p.begin or h.half_time = p.end or h.id = p.any_id
group by h.local, h.checks, h.last_check, h.state, h.commits, h.consumer, h.producer_group, h.path
order by transactions desc, h.local, h.checks, h.last_check, h.state, h.commits, h.consumer, h.producer_group limit 2000
