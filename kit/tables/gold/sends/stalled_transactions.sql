-- One row for each of the first two transactions, by UNIQ_KEY, whose half message was stored while a broker stalled (or within a second of it) and
-- that had to be checked or are still open: uniq_key, state, check_times, half_file, half_offset, n (all of them). Of the first 100 stalls.
-- END_TRANSACTION is one-way (MQClientAPIImpl.endTransactionOneway): dropped from the broker's queue, it leaves no error.
with met as (
  select distinct t.uniq_key, t.state, t.check_times, t.half_file, t.half_offset
  from transactions t join stalls s on unix_millis(t.half_time) >= s.start_ms - 1000 and unix_millis(t.half_time) <= s.end_ms + 1000
  where s.rank <= 100 and (t.state = 'pending' or t.check_times is not null)
)
select uniq_key, state, check_times, half_file, half_offset, count(*) over () as n
from met order by uniq_key, half_file, half_offset limit 2
