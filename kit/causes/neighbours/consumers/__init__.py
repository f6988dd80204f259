"""What happens to consumption: retries, dead letters, delayed delivery."""
