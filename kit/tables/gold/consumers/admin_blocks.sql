-- One row per row of a table, block of fields or line of its own (block 0) in an mqadmin output (tools/command): line (the first), time (when the output
-- was written, null if this is a copy), cells (its values by column or field), arguments (of the command above it, by `-g`, `-t`, …), called (its line,
-- else 0).
with printed as (
  select *, startswith(name, 'argument:') as is_argument, max(case when startswith(name, 'argument:') then line end) over (partition by file order by line) as called
  from admin
), blocks as (
  select file, place, block, command, min(line) as line, min(time) as time, min(called) as called, map_from_entries(sort_array(collect_list(struct(name, value)))) as cells
  from (
    select file, if(block > 0, -block, line) as place, block, command, name, max(value) as value, min(line) as line, min(time) as time,
      min(coalesce(called, 0)) as called
    from printed where not is_argument group by 1, 2, 3, 4, 5
  ) group by file, place, block, command
), calls as (
  select file, line, map_from_entries(sort_array(collect_list(struct(name, value)))) as arguments from (
    select file, line, substring(name, 10) as name, max(value) as value from printed where is_argument group by 1, 2, 3
  ) group by file, line
)
select b.file, b.line, b.block, b.command, if(t.original or b.time is distinct from f.modified, b.time, null) as time, b.cells, c.arguments, b.called
from blocks b cross join file_times t left join files f on f.file = b.file left join calls c on c.file = b.file and c.line = b.called
order by b.file, b.line, b.block, b.command limit 1000000
