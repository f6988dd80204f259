-- One row per commit log file that ends inside a record: file, start (where that record begins). RocketMQ fills a file before it writes to it
-- (MappedFile), so its own files never end there: a copy was cut short. At most 1,000 rows, in order of name.
select file, min(start) as start from skipped where reason = 'truncated' group by file order by file limit 1000
