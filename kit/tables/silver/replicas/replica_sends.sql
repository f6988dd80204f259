-- One row per acknowledged send: `compared_by_id` where ledgers have offset ids, else `compared_by_key`.
select * from compared_by_id
union all
select k.* from compared_by_key k cross join (select sum(named) as named from send_answers) a where coalesce(a.named, 0) = 0
