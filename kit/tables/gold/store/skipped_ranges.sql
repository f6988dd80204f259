-- One row per reason why bytes of commit log files are no records: files, ranges, bytes. At most four rows.
select reason, count(distinct file) as files, count(*) as ranges, sum(end - start) as bytes
from skipped group by reason order by reason
