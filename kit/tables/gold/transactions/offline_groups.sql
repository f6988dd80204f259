-- One row per producer group that had no connection when the broker checked: producer_group, gone (lines that say that one of its producers
-- unregistered or lost its connection), file, line (of the first, null without any). At most 50 rows. ProducerManager.
with seen as (
  select value_group as producer_group, event in ('producer-table-empty', 'producer-list-empty') as empty, struct(ts, file, line) as place
  from events where value_group is not null and event in (
    'producer-table-empty', 'producer-list-empty', 'producer-unregistered', 'producer-group-unregistered', 'producer-channel-removed')
), counted as (
  select producer_group, bool_or(empty) as empty, count(case when not empty then 1 end) as gone, min(case when not empty then place end) as place
  from seen group by producer_group
)
select producer_group, gone, place.file as file, place.line as line from counted where empty order by producer_group limit 50
