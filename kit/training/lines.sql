select substring_index(file, '!/', -1) as file, line, ts, level, concat_ws('\n', message, trace) as text
from logs where contains(concat_ws('\n', message, trace), :text) order by ts, logs.file, line limit :most
