-- One row per file that belongs to one broker of the evidence: file, cluster (empty, or the folder of a broker that has the name of another cluster's),
-- stored (boolean: its store is here, or none is). At most as many rows as files.
select file, if(broker <> printed, broker, '') as cluster, stored or not bool_or(stored) over () as stored from file_brokers order by file
