-- One row: busy, how many responses with code 2 (SYSTEM_BUSY) the brokers counted in broker_traffic.log (5.1.0 and later).
select coalesce(sum(try_cast(regexp_extract(value_counts, '(?:^|[{, ])2:([0-9]{1,18})', 1) as bigint)), 0) as busy
from events where event = 'response-codes'
