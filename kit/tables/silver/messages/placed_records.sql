-- The columns of `records`, and broker: the name of the one that stored it, else the folder of its store; null if a single store
-- without a name is in the evidence, which then is of whatever broker is consumed from. Each broker of a topic has queues of the same numbers.
select r.*, case when f.broker <> f.root or s.stores > 1 then f.broker end as broker
from records r left join file_brokers f on f.file = r.file cross join (select count(distinct root) as stores from file_brokers) s
