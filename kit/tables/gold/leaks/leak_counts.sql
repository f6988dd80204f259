-- One row per place (half, schedule, discarded) and descent: committed (it or an ancestor), commits (records written by a commit), of_place (its messages).
with of_message as (
  select place, committed, uniq_key, count(*) as records, count_if(itself) as commits, max(check_times) as checks, min(store_timestamp) as first,
    max(store_timestamp) as last
  from leaked_records group by place, committed, uniq_key
), places as (
  select place, count(*) as messages from (select distinct place, uniq_key from of_message where uniq_key is not null) group by place
)
select m.place, m.committed, sum(m.records) as records, sum(m.commits) as commits, count(m.uniq_key) as messages,
  coalesce(max(p.messages), 0) as of_place, max(m.checks) as max_check_times, min(m.first) as first, max(m.last) as last
from of_message m left join places p on p.place = m.place
group by m.place, m.committed order by m.place, m.committed
