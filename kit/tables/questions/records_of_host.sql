-- One row: n, the records whose UNIQ_KEY begins with these bytes of an address (`prefix`) and is as long as an offset id of it (`size`).
select count(*) as n from records where startswith(uniq_key, :prefix) and length(uniq_key) = :size order by n
