-- One row per step of the time axis in which watermark.log has a block: at_ms (since 1970), size (the largest). BrokerController.printWaterMark.
with sizes as (
  select unix_millis(e.ts) - pmod(unix_millis(e.ts), w.step_ms) as at_ms, try_cast(e.value_size as bigint) as size
  from events e cross join busy_window w
  where e.event = 'watermark' and e.value_queue = 'Send' and unix_millis(e.ts) between w.low_ms and w.high_ms
)
select at_ms, max(size) as size from sizes group by at_ms order by at_ms limit 3000
