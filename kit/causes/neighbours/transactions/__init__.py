"""What happens to transactions: checks, answers, half messages."""
