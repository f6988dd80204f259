-- One row per address that nobody answered at, as the operating system says it (known problem connection-refused): address (null where the entry names
-- none), n (entries). netty's AbstractChannel prints the address behind the error, remoting/netty/NettyRemotingClient and Go's net.Dial in front of it.
with named as (
  select ts, coalesce(
    nullif(regexp_extract(text, '(?:connect to <?|remote host\\[|dial tcp |refused: [^ /]*/?)([^\\s/>]+?:[0-9]{1,5})', 1), ''),
    nullif(regexp_extract(text, '(?:[0-9]{1,3}[.]){3}[0-9]{1,3}:[0-9]{1,5}', 0), '')) as address
  from (
    select ts, concat_ws(' ', message, trace) as text
    from entries where known in ('problem:connection-refused', '*') and array_contains(events, 'problem:connection-refused')
  )
)
select address, count(*) as n, min(ts) as first, max(ts) as last
from named group by address
order by n desc, address nulls last limit 5000
