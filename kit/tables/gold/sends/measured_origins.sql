-- One row per tool that measured a host: origin, n (values). At most as many as there are tools.
select origin, count(*) as n from metrics group by origin order by origin
