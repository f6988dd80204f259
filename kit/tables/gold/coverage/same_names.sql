-- One row per store (file: its folder) whose broker has the name of another's (the first such store) although no host wrote to both: hosts (one of each).
with stores as (
  select distinct b.printed as broker, b.root, e.store_host from store_extent e join file_brokers b on b.file = e.file where b.printed <> b.root
), pairs as (
  select a.broker, a.root as other, b.root as file, min(a.store_host) as one, min(b.store_host) as another
  from stores a join stores b on a.broker = b.broker and a.root < b.root
  group by a.broker, a.root, b.root
  having count_if(a.store_host = b.store_host) = 0
)
select file, min(other) as other, broker, concat_ws(', ', min_by(one, other), min_by(another, other)) as hosts
from pairs group by file, broker order by file
