-- How many log entries there are, whatever their times: n.
SELECT count(*) AS n FROM all_entries
