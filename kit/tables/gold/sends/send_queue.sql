-- One row per step of the time axis in which watermark.log has a block: at_ms (since 1970), size (largest size of the send queue). At most 2,000.
select (unix_millis(e.ts) div w.step_ms) * w.step_ms as at_ms, max(try_cast(e.values['size'] as bigint)) as size
from events e cross join busy_window w
where e.event = 'watermark' and e.values['queue'] = 'Send' and unix_millis(e.ts) between w.low_ms and w.high_ms
group by (unix_millis(e.ts) div w.step_ms) * w.step_ms order by at_ms limit 3000
