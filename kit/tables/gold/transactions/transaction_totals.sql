-- One row per producer group of transactions (null: unknown): renewed (half records that a check or the immunity time wrote), without_row (committed, no
-- business row, in clusters of which one of the group's rows is here; null without any), dead (dead letters, also of messages without a transaction).
select producer_group, count(state) as half_messages, count_if(state = 'committed') as committed, count_if(state = 'rolled_back') as rolled_back,
  count_if(state = 'discarded') as discarded, count_if(state = 'pending') as pending, count_if(state is not null and commits > 1) as committed_twice,
  count_if(check_times > 0) as checked, coalesce(sum(case when state is not null then half_records - 1 end), 0) as renewed,
  if(bool_or(with_row), count_if(state = 'committed' and with_rows and not with_row), null) as without_row, count_if(immune) as immune, count_if(cluster) as cluster, count_if(dead) as dead,
  min(half_time) as first, max(last_time) as last
from (
  select t.*, bool_or(t.with_row) over (partition by t.producer_group, c.cluster) as with_rows
  from transactions t left join file_clusters c on c.file = t.half_file
) group by producer_group order by producer_group
