"""What happened to messages."""
