-- Whether a half record has a compressed body: n (0 or 1).
select count(*) as n from (select 1 from records where topic = 'RMQ_SYS_TRANS_HALF_TOPIC' and body_codec <> 'none' limit 1)
