-- One row: clients (producers of users that a client log shows to start). Consumers and mqadmin write client logs too.
select count(*) as clients from events
where event = 'client-started' and source = 'client' and try_element_at(values, 'role') = 'producer'
  and try_element_at(values, 'group') not in ('CLIENT_INNER_PRODUCER', 'admin_ext_group')
order by clients
