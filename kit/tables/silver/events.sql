-- `all_events` within the times of the case: file, source, line, ts, thread, logger, level, event, values and a column for each value that queries
-- ask for (`value_group`, …).
select e.* from all_events e cross join limits l
where e.ts is null or (e.ts >= coalesce(l.since, e.ts) and e.ts <= coalesce(l.until, e.ts))
