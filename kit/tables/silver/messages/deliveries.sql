-- stored as Parquet
-- One row for each delivery that a consumer recorded, in its ledger or, without any ledger, in its log: consumer (its group, else the file), retry (a
-- retry copy), origin (offset id of the stored message that it is a retry of), success (null: unknown), and the place of the delivered record if the
-- evidence has it. A ledger is one table, or several instances' tables of one group: the one whose retry topic the ledger's retries are in.
with noted as (
  select * from ledger_deliveries
  union all
  select l.* from logged_deliveries l cross join (select count(*) as n from ledger_deliveries) c where c.n = 0
), delivered as (
  select d.*, r.uniq_key as record_key, r.topic, r.property_ORIGIN_MESSAGE_ID as record_origin, r.consumer_group,
    coalesce(d.reconsume_times, r.reconsume_times) as times, r.file as record_file, r.physical_offset, r.store_timestamp
  from noted d left join records r on d.offset_msg_id = r.offset_msg_id
)
select d.file, d.line, d.logged,
  -- The records are looked through once: joining each file's only group to them would do it twice.
  coalesce(d.declared, if(min(consumer_group) over (partition by file) = max(consumer_group) over (partition by file),
    min(consumer_group) over (partition by file), null), d.file) as consumer,
  coalesce(d.uniq_key, d.record_key) as uniq_key,
  d.key, d.offset_msg_id, d.times as reconsume_times, coalesce(d.times > 0, false) or coalesce(startswith(d.topic, '%RETRY%'), false) as retry,
  coalesce(d.record_origin, if(coalesce(d.times, 0) = 0, d.offset_msg_id, null)) as origin, d.topic, d.result, d.success, d.time,
  d.record_file, d.physical_offset, d.store_timestamp
from delivered d
