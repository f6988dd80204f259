"""Units of consume queues, each with the record it points to: columns of `queue_units`.

The path of a file says which queue it holds. Where it was lost, the records that the units point to say it: a file
holds one queue, so if several brokers have a record at an offset, the queue on which most units of the file agree is
taken. In the schedule topic the tags code is the delivery time (CommitLog.checkMessageAndReturnSize).
"""

from typing import Final

from pyspark.sql import DataFrame, SparkSession

READS: Final = ("queue_units", "records")
PLACED: Final = """
with hits as (
  select distinct u.file, u.physical_offset, u.size, r.topic, r.queue_id, r.queue_offset
  from queue_units u join records r on u.physical_offset = r.physical_offset and u.size = r.store_size
  where u.topic is null
), counted as (
  select file, topic, queue_id, count(*) as n from hits group by file, topic, queue_id
), queues as (
  select file, topic, queue_id from (
    select file, topic, queue_id, row_number() over (partition by file order by n desc, topic, queue_id) as nth from counted
  ) ranked where nth = 1
)
select u.file, u.kind, u.physical_offset, u.size, u.tags_code, u.problem, q.topic, q.queue_id, h.queue_offset as logical_offset,
  case when q.topic = 'SCHEDULE_TOPIC_XXXX' and u.tags_code between 1 and 9223372036854 then timestamp_millis(u.tags_code) end as deliver_timestamp
from queue_units u
left join queues q on u.file = q.file
left join hits h on h.file = u.file and h.physical_offset = u.physical_offset and h.size = u.size and h.topic = q.topic and h.queue_id = q.queue_id
where u.topic is null
"""


def query(spark: SparkSession) -> DataFrame:
    units = spark.table("queue_units")
    if not units.where("topic is null").limit(1).count():
        return units
    return units.where("topic is not null").unionByName(spark.sql(PLACED).select(*units.columns))
