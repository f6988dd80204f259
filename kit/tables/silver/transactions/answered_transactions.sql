-- One row per transaction whose producer answered: first_… (not to a check), last_check (its last answer to one), unknown (checks so answered), unsure_….
with numbered as (
  select *, row_number() over (partition by uniq_key, from_check order by ts nulls first, file, line) as nth,
    row_number() over (partition by uniq_key, from_check order by ts desc nulls last, file desc, line desc) as back,
    row_number() over (partition by uniq_key, from_check, answer order by ts nulls first, file, line) as nth_answer
  from transaction_answers
)
select uniq_key, max(case when not from_check and nth = 1 then answer end) as first_answer,
  bool_or(case when not from_check and nth = 1 then exception end) as first_exception,
  max(case when not from_check and nth = 1 then file end) as first_file, max(case when not from_check and nth = 1 then line end) as first_line,
  max(case when from_check and back = 1 then answer end) as last_check, count_if(from_check and answer = 'UNKNOWN') as unknown,
  max(case when from_check and answer = 'UNKNOWN' and nth_answer = 1 then file end) as unsure_file,
  max(case when from_check and answer = 'UNKNOWN' and nth_answer = 1 then line end) as unsure_line
from numbered group by uniq_key
