"""RocketMQ facts as data, each with its upstream reference; nothing here reads or judges."""
