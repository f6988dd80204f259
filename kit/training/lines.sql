select file, line, ts, level, concat_ws('\n', message, trace) as text
from logs where contains(concat_ws('\n', message, trace), :text) order by ts, file, line limit :most
