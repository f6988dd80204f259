-- One row per setting that the evidence has for a broker, topic or group, each value of a file once: file, origin, subject, name, value, backup
-- as in `configs`, line (the last with it: a broker prints hundreds each time it starts). At most as many rows as files have different settings.
select file, origin, subject, name, value, backup, max(line) as line
from configs
group by file, origin, subject, name, value, backup
order by file, line, origin, subject, name, value, backup
