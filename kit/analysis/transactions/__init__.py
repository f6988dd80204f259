"""What happened to transactions."""
