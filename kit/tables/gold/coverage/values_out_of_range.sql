-- One row per file with times or numbers that no column can hold (null, though a full date or a number is printed): file, n (values).
-- A time of day or `N/A` is no full time anyway; the fields of a checkpoint belong to no queue. At most one row a file.
with unknown as (
  select file, ts_text as printed from all_entries where ts is null
  union all
  select file, time_text as printed from rows where time is null
  union all
  select file, start_text as printed from sends where start is null
  union all
  select file, ts_text as printed from metrics where ts is null
), out_of_range as (
  select file from unknown
  where printed rlike '^\\W?[0-9]{4,}[-/.年][0-9]|^-?[0-9]([.][0-9]+)?[eE][+]?[0-9]+$|^-?[0-9]{14,}$|^<value out of range'
  union all
  select file from offsets where (queue_id is null or value is null) and kind <> 'checkpoint'
)
select file, count(*) as n from out_of_range group by file order by file
