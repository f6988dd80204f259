-- One row per permission of a topic in topics.json: file, line, origin, subject (the topic), name (`perm`), value, backup (never). Dead letter topics
-- first, then by topic; at most 20,000. common/constant/PermName: 4 may be read, 2 may be written.
select file, line, origin, subject, name, value, backup
from configs where origin = 'topics' and name = 'perm' and not backup
order by coalesce(not contains(subject, '%DLQ%'), true), subject, file, line
limit 20000
