-- One row per pair of connections of one client id and group, from two addresses, at the same time on one broker: listed (by one consumerConnection),
-- line, address and first of one, other_… of the other. Of one client id the last 1,000 connections are compared. A broker may keep a connection that is
-- gone for 150 s (clientChannelMaxIdleTimeSeconds and one scan): one that was closed up to that long after the next one opened may have been gone before,
-- as may one without an end if the next comes from the same host; unless the client saved offsets over it later than that.
with numbered as (
  select *, regexp_replace(address, ':[^:]*$', '') as host,
    row_number() over (order by listed desc, first nulls last, file, line, address) as nth,
    row_number() over (partition by `group`, client_id, file, listed order by first desc nulls first, line desc, address desc) as back
  from client_connections
), saved as (
  select `group`, address, max_by(last, first) as last from consumer_statements where event = 'consumer-offset-back' group by `group`, address
), recent as (
  select n.*, unix_micros(n.first) as opened, unix_micros(n.last) as closed, unix_micros(coalesce(s.last, n.first)) as used
  from numbered n left join saved s on s.`group` = n.`group` and s.address = n.address where n.back <= 1000
), paired as (
  select a.`group`, a.client_id, a.listed, a.file, a.nth, b.nth as other_nth, a.line, a.address, a.first, a.host, b.line as other_line,
    b.address as other_address, b.first as other_first, b.host as other_host, greatest(a.opened, b.opened) as next,
    if(a.opened <= b.opened, a.closed, b.closed) as closed, if(a.opened <= b.opened, a.used, b.used) as used
  from recent a join recent b on b.`group` = a.`group` and b.client_id = a.client_id and b.file = a.file and b.listed = a.listed and b.called <=> a.called
  where a.nth < b.nth and a.address <> b.address
)
select `group`, client_id, listed, file, line, address, first, other_line, other_address, other_first
from paired
where listed or if(first is null or other_first is null, host <> other_host,
  if(closed is null, host <> other_host or used > next, greatest(closed - 150000000, least(closed, used)) > next))
order by listed desc, nth, other_nth limit 100000
