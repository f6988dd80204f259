-- One row per range of a commit log file that could not be read, or that ends it with zeros: file, start, end (bytes of the file), reason (truncated,
-- corrupt, zero_tail). At most 100,000 rows, in order of place.
select file, start, end, reason from skipped
where reason in ('truncated', 'corrupt', 'zero_tail')
order by file, start, end, reason limit 100000
