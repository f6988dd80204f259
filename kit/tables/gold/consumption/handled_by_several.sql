-- One row per consumer group and ledger of the first message (by name) that several of its processes handled: messages (all that several handled).
with totals as (
  select `group`, count(*) as messages, min(name) as name from shared_messages group by `group`
), lines as (
  select d.`group`, t.messages, d.file, min(d.line) as line
  from group_deliveries d join totals t on d.`group` = t.`group` and coalesce(d.uniq_key, d.key) = t.name
  group by d.`group`, t.messages, d.file
), numbered as (
  select *, row_number() over (partition by `group` order by file) as nth from lines
)
select `group`, messages, file, line from numbered where nth <= 2 order by `group`, file
