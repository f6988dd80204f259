-- One row per consumer group with an offset: group, file (the first that has one). At most 100,000 rows.
select `group`, min(file) as file from offsets where `group` <> '' group by `group` order by `group` limit 100000
