-- One row per cell or field of an mqadmin output, and per argument of its command (name `argument:-g`): file, line, block (number of the table's row or of
-- the block of fields, 0 for a line of its own), command, name, value, time (when the output was written). At most 1,000,000 rows, in order of place.
-- tools/command/consumer: ConsumerProgressSubCommand, ConsumerStatusSubCommand, ConsumerConnectionSubCommand, BrokerConsumeStatsSubCommad, …
select file, line, block, command, name, value, time
from admin
order by file, line, block, name, value
limit 1000000
