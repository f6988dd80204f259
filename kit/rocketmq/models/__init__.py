"""What a broker, a producer and their settings lead to, worked out: arithmetic over the facts beside it."""
