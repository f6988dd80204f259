select source, level, regexp_replace(substring(message, 1, 120), '[0-9A-Fa-f]{16,}|\\d+', '#') as text, count(*) as entries
from logs where level in ('WARN', 'ERROR') group by 1, 2, 3 order by entries desc, text limit :most
