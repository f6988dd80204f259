select topic, count(*) as records, min(store_timestamp) as first, max(store_timestamp) as last
from records group by topic order by records desc, topic limit 40
