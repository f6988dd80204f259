-- One row per point of the curve of leaked half records: seq (in the order of their offsets), doubling (messages × 2^k, never thinned out),
-- from_the_beginning (the first half record of each message is one that no check has renewed; else what is left measures how fast a round is written).
with numbered as (
  select *, row_number() over (order by store_host, physical_offset, file) as seq,
    row_number() over (partition by uniq_key order by store_host, physical_offset, file) as nth
  from leaked_records where place = 'half'
), totals as (
  select count(*) as records, coalesce(max(of_place), 0) as messages, bool_and(nth > 1 or check_times is null) as from_the_beginning
  from numbered cross join (select max(of_place) as of_place from leak_counts where place = 'half')
), marks as (
  select messages * cast(pow(2, k) as bigint) as mark from totals cross join (select explode(sequence(0, 40)) as k) where messages > 0
)
select n.seq, n.store_timestamp, n.queue_offset as half_queue_offset, n.check_times, n.uniq_key, m.mark is not null as doubling, t.from_the_beginning
from numbered n cross join totals t left join marks m on m.mark = n.seq
where n.seq % greatest(1, t.records div 4000) = 0 or n.seq = 1 or n.seq = t.records or m.mark is not null
order by n.seq
