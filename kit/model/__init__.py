"""What RocketMQ does, as arithmetic: ids, sizes, the paths of a transaction, a broker that stands still. No evidence, no Spark."""
