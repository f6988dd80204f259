-- One row per id in a look-up or a `dedup_lines` that a record has: id (upper case), kind (`offset`, `uniq`: its UNIQ_KEY). At most 20,000.
with words as (
  select explode(regexp_extract_all(concat_ws(' ', message, trace), '[0-9A-Fa-f]{32,}', 0)) as word from lookup_entries
  union all
  select id from dedup_lines
), wanted as (
  select distinct upper(word) as id from words order by id limit 20000
), had as (
  select w.id, 'offset' as kind from wanted w left semi join records r on w.id = r.offset_msg_id
  union all
  select w.id, 'uniq' as kind from wanted w left semi join records r on w.id = r.uniq_key
)
select id, min(kind) as kind from had group by id order by id
