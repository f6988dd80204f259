-- One row per address of a host's interfaces (origin addresses: `ip addr`, ifconfig, without IPv6 link-local ones) and socket that listens on it (origin
-- sockets: ss, netstat): prefix (bits), only_the_host (nothing outside the host can reach it: loopback, bridges of containers and virtual machines).
select distinct origin, file, line, address, interface, prefix, port,
  address like '127.%' or address = '::1' or coalesce(lower(interface), '')
    rlike '^(docker|br-|virbr|cni|flannel|cali|veth|podman|lxcbr|lxdbr|weave|kube-bridge|cbr|tunl|vmnet|vboxnet)' as only_the_host
from network
where (origin = 'addresses' and not lower(address) rlike '^fe[89ab]')
  or (origin = 'sockets' and coalesce(state, 'LISTEN') = 'LISTEN' and not coalesce(peer, ':*') rlike ':[0-9]+$')
order by origin, file, line, address, interface, prefix, port limit 20000
