"""Known problems as data: what RocketMQ's log lines, answers and exceptions mean, by release."""
