-- One row per producer group that had no connection when the broker checked: producer_group. At most 50 rows. ProducerManager.getAvailableChannel.
select distinct try_element_at(values, 'group') as producer_group from events
where event in ('producer-table-empty', 'producer-list-empty') and try_element_at(values, 'group') is not null
order by producer_group limit 50
