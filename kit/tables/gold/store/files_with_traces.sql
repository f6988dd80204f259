-- One row per commit log file with a record that is a message trace of a client. At most one row a file.
select distinct file from stored_messages where traced order by file
