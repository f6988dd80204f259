-- One row per producer group that had no connection when the broker checked: producer_group. At most 50 rows. ProducerManager.getAvailableChannel.
select distinct value_group as producer_group from events
where event in ('producer-table-empty', 'producer-list-empty') and value_group is not null
order by producer_group limit 50
