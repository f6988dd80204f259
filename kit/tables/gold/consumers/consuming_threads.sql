-- One row per consuming thread of a thread dump: file, line, dump (its number in the file), time, thread, state, frames (innermost first), frame_lines,
-- locked, waiting_for, deadlocked. At most 50,000 rows, in order of place. Threads are named by client/impl/consumer/ConsumeMessage*Service.
select file, line, dump, time, thread, state, frames, frame_lines, locked, waiting_for, deadlocked
from threads
where startswith(thread, 'ConsumeMessageThread_')
order by file, line, dump, thread
limit 50000
