-- One row per consuming thread of a thread dump: file, line, dump (its number in the file), time, thread, group (in the thread's name from 4.9.0 on, its
-- first 100 characters), state, frames (innermost first), frame_lines, locked, waiting_for, deadlocked. At most 50,000 rows, in order of file, dump and line.
-- Threads are named by client/impl/consumer/ConsumeMessage*Service, those of gRPC clients by client/java/misc/ThreadFactoryImpl.
select file, line, dump, time, thread, nullif(regexp_extract(thread, '^ConsumeMessageThread_(.+)_[0-9]+$', 1), '') as `group`, state, frames, frame_lines,
  locked, waiting_for, coalesce(deadlocked, false) as deadlocked
from threads
where thread rlike '^(ConsumeMessageThread_(.+_)?|RocketmqMessageConsumption-[0-9]+-)[0-9]+$'
order by file, dump, line, thread limit 50000
