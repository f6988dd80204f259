-- One row per client connection and hour: born_host, hour (hours since 1970), skew (ms to add to a birth for the client's clock, 0 up to 50 ms),
-- since (ms since 1970: first record of the connection). bornTimestamp is the client's time, storeTimestamp the broker's (MessageExtBrokerInner).
-- A client's quickest record of an hour shows the difference, if it has 20 records in it. Where the quickest took more than 50 ms either way,
-- a flipped bit may have made it, and the third quickest counts (of many, that behind 0.2 %).
with new as (
  select born_host, unix_millis(store_timestamp) as stored, unix_millis(store_timestamp) - unix_millis(born_timestamp) as took
  from records
  where (sys_flag & 12) < 8 and coalesce(stage, '') not in ('retry', 'dlq') and reconsume_times = 0 and prepared_transaction_offset = 0
    and store_timestamp is not null and born_timestamp is not null
), delays as (
  select born_host, stored div 3600000 as hour, took, count(*) as n, min(stored) as since from new group by born_host, stored div 3600000, took
), ranked as (
  select *, sum(n) over (partition by born_host, hour order by took) as up_to, sum(n) over (partition by born_host, hour) as of_hour from delays
), hours as (
  select born_host, hour, sum(n) as n, min(since) as since, min(took) as least,
    min(case when up_to >= 3 + (of_hour * 2) div 1000 then took end) as third
  from ranked group by born_host, hour
), connections as (
  select born_host, regexp_replace(born_host, ':[0-9]+$', '') as host, hour, n, since, case when abs(least) > 50 then third else least end as least
  from hours
), skews as (
  select born_host, hour, min(since) over (partition by born_host) as since,
    coalesce(
      case when sum(n) over (partition by host, hour) >= 20 then min(least) over (partition by host, hour)
      else least(min(least) over (partition by host), 0) end, 0) as skew
  from connections
)
select born_host, hour, case when abs(skew) > 50 then skew else 0 end as skew, since from skews
