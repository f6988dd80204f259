-- One row per key of the business tables: key, file, line, status (of its first row), named (least UNIQ_KEY that one of its rows names, null: none).
-- Transaction log tables and what consumers recorded are no business rows.
select key, file, line, status, named from (
  select key, file, line, status, min(uniq_key) over (partition by key) as named,
    row_number() over (partition by key order by file nulls first, line nulls first, status nulls first) as nth
  from rows where role = 'business' and key is not null
) where nth = 1
