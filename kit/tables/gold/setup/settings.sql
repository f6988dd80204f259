-- One row per setting of a broker, topic or group, each value of a file once: line (the last with it: a broker prints hundreds each time it starts).
select file, origin, subject, name, value, backup, max(line) as line
from configs
group by file, origin, subject, name, value, backup
order by file, line, origin, subject, name, value, backup
