"""Record sizes against limits."""
