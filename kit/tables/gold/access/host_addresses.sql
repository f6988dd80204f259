-- One row per address of a host's interfaces (origin addresses: `ip addr`, ifconfig) and socket that listens on it (origin sockets: ss, netstat):
-- file, line, address, interface, prefix (network bits), port. At most 20,000 rows.
select distinct origin, file, line, address, interface, prefix, port from network
where origin = 'addresses' or (origin = 'sockets' and coalesce(state, 'LISTEN') = 'LISTEN' and not coalesce(peer, ':*') rlike ':[0-9]+$')
order by origin, file, line, address, interface, prefix, port
limit 20000
