-- One row per half record with a compressed body; undecodable ones are left out. Bodies are only in the commit log itself, which is read again for this.
select file, physical_offset, cast(length(body) as bigint) as raw_size from message_bodies
where topic = 'RMQ_SYS_TRANS_HALF_TOPIC' and body_codec <> 'none' and body is not null
