-- One row per key of the business tables, and cluster: named (least UNIQ_KEY that one of its rows names). No rows of a cluster without a store here.
select key, file, line, status, named, cluster from (
  select r.key, r.file, r.line, r.status, c.cluster, min(r.uniq_key) over (partition by r.key, c.cluster) as named,
    row_number() over (partition by r.key, c.cluster order by r.file nulls first, r.line nulls first, r.status nulls first) as nth
  from rows r left join file_clusters c on c.file = r.file
  where r.role = 'business' and r.key is not null and coalesce(c.stored, true)
) where nth = 1
