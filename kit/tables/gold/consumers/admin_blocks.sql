-- One row per row of a table, block of fields or line of its own (block 0) in an mqadmin output: file, line (the first), block, command, time (when the
-- output was written), cells (its values by column or field), arguments (of the command above it, by `-g`, `-t`, …; null without one).
-- At most 1,000,000 rows, in order of place.
-- tools/command/consumer: ConsumerProgressSubCommand, ConsumerStatusSubCommand, ConsumerConnectionSubCommand, BrokerConsumeStatsSubCommad, …
with blocks as (
  select file, place, block, command, min(line) as line, min(time) as time, map_from_entries(collect_list(struct(name, value))) as cells from (
    select file, if(block > 0, -block, line) as place, block, command, name, max(value) as value, min(line) as line, min(time) as time
    from admin where not startswith(name, 'argument:') group by 1, 2, 3, 4, 5
  ) group by file, place, block, command
), calls as (
  select file, line, map_from_entries(collect_list(struct(name, value))) as arguments from (
    select file, line, substring(name, 10) as name, max(value) as value from admin where startswith(name, 'argument:') group by 1, 2, 3
  ) group by file, line
), called as (
  select b.*, c.arguments, row_number() over (partition by b.file, b.place, b.command order by c.line desc nulls last) as nth
  from blocks b left join calls c on c.file = b.file and c.line <= b.line
)
select file, line, block, command, time, cells, arguments from called where nth = 1
order by file, line, block, command
limit 1000000
