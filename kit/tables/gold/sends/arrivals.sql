-- One row per tenth of a step of the time axis: born_or_stored, at_ms (since 1970), n (originals born or stored in it). At most 30,000.
with times as (
  select 'born' as born_or_stored, unix_millis(born_timestamp) as ms from originals where born_timestamp is not null
  union all
  select 'stored' as born_or_stored, unix_millis(store_timestamp) as ms from originals where store_timestamp is not null
)
select t.born_or_stored, (t.ms div (w.step_ms div 10)) * (w.step_ms div 10) as at_ms, count(*) as n
from times t cross join busy_window w where t.ms between w.low_ms and w.high_ms
group by t.born_or_stored, (t.ms div (w.step_ms div 10)) * (w.step_ms div 10) order by born_or_stored, at_ms limit 40000
