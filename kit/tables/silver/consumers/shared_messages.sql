-- One row per consumer group and message that several of its ledgers have, so that several processes handled it: group, name (UNIQ_KEY, else key).
select `group`, coalesce(uniq_key, key) as name from group_deliveries
where coalesce(uniq_key, key) is not null
group by `group`, coalesce(uniq_key, key) having min(file) <> max(file)
