-- One row per producer group without a connection when the broker checked (ProducerManager): gone (lines about a producer that left), the first of these.
with seen as (
  select value_group as producer_group, event in ('producer-table-empty', 'producer-list-empty') as empty, struct(ts, file, line) as place
  from events where value_group is not null and event in (
    'producer-table-empty', 'producer-list-empty', 'producer-unregistered', 'producer-group-unregistered', 'producer-channel-removed')
), counted as (
  select producer_group, bool_or(empty) as empty, count(case when not empty then 1 end) as gone, min(case when not empty then place end) as place
  from seen group by producer_group
)
select producer_group, gone, place.file as file, place.line as line from counted where empty order by producer_group limit 50
