-- One row per tenth of a step of the time axis: born_or_stored, at_ms (since 1970), n (originals born or stored in it). At most 40,000.
with times as (
  select 'born' as born_or_stored, unix_millis(born_timestamp) as ms from originals where born_timestamp is not null
  union all
  select 'stored' as born_or_stored, unix_millis(store_timestamp) as ms from originals where store_timestamp is not null
), placed as (
  -- The embedded engine divides by a column of the smaller side of such a join before it has its value.
  select t.born_or_stored, t.ms - pmod(t.ms, w.step_ms div 10) as at_ms
  from times t cross join busy_window w where t.ms between w.low_ms and w.high_ms
)
select born_or_stored, at_ms, count(*) as n from placed group by born_or_stored, at_ms order by born_or_stored, at_ms limit 40000
