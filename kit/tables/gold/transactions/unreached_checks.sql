-- One row if checks found no channel to a producer: in_traffic (lines within a second of an answer of its group, which was connected but not writable).
with nulls as (
  select value_group as producer_group, date_trunc('second', ts) as second, count(*) as lines
  from events where event = 'check-channel-null' group by 1, 2
), answers as (
  select value_group as producer_group, date_trunc('second', ts) as second, min(struct(file, line)) as place
  from events where event in ('check-answer-commit', 'check-answer-rollback', 'check-answer-pending') and ts is not null group by 1, 2
), answered as (
  select n.producer_group, n.second, max(n.lines) as lines, min(struct(a.second, a.place)) as answer
  from nulls n join answers a on a.producer_group = n.producer_group
    and a.second between n.second - interval 1 second and n.second + interval 1 second
  group by n.producer_group, n.second
), meanwhile as (
  select sum(lines) as in_traffic, min(answer) as answer from answered
)
select n.lines, coalesce(m.in_traffic, 0) as in_traffic, m.answer.place.file as file, m.answer.place.line as line
from (select sum(lines) as lines from nulls) n cross join meanwhile m
where n.lines > 0 order by n.lines
