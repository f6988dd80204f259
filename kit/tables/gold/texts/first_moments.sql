-- One row per start, stop or change that somebody made, by the broker's or client's own words. The first 40 of each text, at most 200 rows.
with ranked as (
  select event, ts, file, line, row_number() over (partition by event order by ts, file, line) as nth
  from events
  where ts is not null
    and event in ('broker-boot', 'store-shutdown', 'broker-config-updated', 'topic-updated', 'client-started')
)
select event, ts, file, line from ranked where nth <= 40 order by ts, file, line, event
