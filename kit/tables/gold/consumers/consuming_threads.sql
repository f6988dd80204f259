-- One row per consuming thread of a thread dump: dump (its number in the file), group (in the thread's name from 4.9.0 on), frames (innermost first).
select file, line, dump, time, thread, nullif(regexp_extract(thread, '^ConsumeMessageThread_(.+)_[0-9]+$', 1), '') as `group`, state, frames, frame_lines,
  locked, waiting_for, coalesce(deadlocked, false) as deadlocked
from threads
where thread rlike '^(ConsumeMessageThread_(.+_)?|RocketmqMessageConsumption-[0-9]+-)[0-9]+$'
order by file, dump, line, thread limit 50000
