-- One row per SendStatus other than SEND_OK in the send ledgers, and one (outcome null) for all other rows: outcome, n. At most 4.
select case when outcome in ('FLUSH_DISK_TIMEOUT', 'SLAVE_NOT_AVAILABLE', 'FLUSH_SLAVE_TIMEOUT') then outcome end as outcome, count(*) as n
from sends group by 1 order by outcome
