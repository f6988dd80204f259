-- One row per transaction whose story is told: place (of its path among the most common), and the columns of `transaction_steps`: up to three examples of
-- each of the first 200 paths, and the first transaction of each kind and cause that disagrees with its row. At most 700 rows.
with paths as (
  select first, any_of_them, last, row_number() over (
      order by transactions desc, local, checks, last_check, state, commits, consumer, producer_group
    ) as place
  from transaction_paths
), wrong as (
  select uniq_key, row_number() over (partition by kind, cause order by stored, uniq_key) as nth from disagreements
), chosen as (
  select uniq_key, min(place) as place from (
    select explode(array(first, any_of_them, last)) as uniq_key, place from paths where place <= 200
    union all
    select uniq_key, 201 from wrong where nth = 1
  ) group by uniq_key
)
select c.place, s.* from transaction_steps s join chosen c on c.uniq_key = s.uniq_key
order by c.place, s.uniq_key
