-- One row per file that belongs to one broker: cluster (empty, or the folder of a broker that has another's name), stored (its store is here, or none is).
select file, if(broker <> printed, broker, '') as cluster, stored or not bool_or(stored) over () as stored from file_brokers order by file
