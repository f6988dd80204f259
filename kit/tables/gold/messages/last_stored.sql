-- One row in all: last, when the last record was stored, null without records.
select max(store_timestamp) as last from records
