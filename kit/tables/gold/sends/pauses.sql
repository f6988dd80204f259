-- One row per time of at least 200 ms in which a broker stored nothing although clients went on sending: store_host, start_ms, end_ms (since 1970),
-- waiters (originals that had waited at least 150 ms for its end). storeTimestamp is taken inside the append lock (CommitLog.putMessage), bornTimestamp
-- when the request is built (DefaultMQProducerImpl). Three originals that waited prove a hole; one proves one of 1 to 60 s. A hole between two proven
-- ones, no more than 500 ms from both, counts if at least 10 records were to be expected in it. The first messages of a connection wait for their client's
-- start. A flipped bit moves a time: a record that lies between two others in order is left out unless it is one of many (a clock that was put back).
with stored as (
  select store_host, unix_millis(store_timestamp) as ms, misplaced from records where store_timestamp is not null and store_host is not null
), counted as (
  select store_host, ms div 200 as bin, count(*) as n, min(ms) as first, max(ms) as last, count_if(misplaced) as misplaced,
    min(case when not misplaced then ms end) as first_placed, max(case when not misplaced then ms end) as last_placed
  from stored group by store_host, ms div 200
), hosts as (
  select *, sum(n) over (partition by store_host) as n_host, sum(misplaced) over (partition by store_host) as n_misplaced from counted
), bins as (
  select store_host, bin, case when one_of_many then n else n - misplaced end as n,
    case when one_of_many then first else first_placed end as first, case when one_of_many then last else last_placed end as last
  from (
    select *, n_misplaced > 0.02 * n_host as one_of_many, n_host >= 20 or n_host >= 0.02 * max(n_host) over () as counts from hosts
  ) where counts and (one_of_many or n > misplaced)
), steps as (
  select store_host, bin, first as end_ms, lag(last) over before as start_ms, lag(first) over before as first_before, lag(n) over before as n_before
  from bins window before as (partition by store_host order by bin)
), holes as (
  select store_host, bin, start_ms, end_ms, n_before / (start_ms - first_before + 1) as rate from steps where end_ms - start_ms >= 200
), late as (
  select o.store_host, unix_millis(o.store_timestamp) as stored, unix_millis(o.born_timestamp) + c.skew as born, c.since
  from originals o join client_clocks c on c.born_host = o.born_host and c.hour = unix_millis(o.store_timestamp) div 3600000
  -- A copy that RocketMQ made looks like an original where its properties cannot be read.
  where unix_millis(o.store_timestamp) - unix_millis(o.born_timestamp) - c.skew >= 150 and o.problem is null
), waits as (
  -- Who waited for a hole's end is stored in its last bin or the next one.
  select h.store_host, h.start_ms, h.end_ms, h.rate, count(l.born) as waiters, min(l.born) as since
  from (select store_host, start_ms, end_ms, rate, explode(array(bin, bin + 1)) as bin from holes) h
  left join late l on l.store_host = h.store_host and l.stored div 200 = h.bin and l.stored >= h.end_ms
    and l.born <= h.end_ms - 150 and l.since < h.end_ms
  group by h.store_host, h.start_ms, h.end_ms, h.rate
), judged as (
  select store_host, greatest(start_ms, coalesce(since, start_ms)) as start_ms, end_ms, rate, waiters,
    waiters >= 3 or waiters > 0 and end_ms - start_ms between 1000 and 60000 as proven
  from waits
), bursts as (
  select store_host, start_ms, end_ms, waiters, rate, proven,
    lag(proven) over beside and lead(proven) over beside and start_ms - lag(end_ms) over beside <= 500
      and (lead(start_ms) over beside) - end_ms <= 500 as between_proven
  from judged window beside as (partition by store_host order by end_ms)
)
select store_host, start_ms, end_ms, waiters from bursts
where proven or (coalesce(between_proven, false) and coalesce(rate, 0) * (end_ms - start_ms) >= 10)
order by waiters desc, store_host, start_ms, end_ms limit 20000
