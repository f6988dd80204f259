"""What looks like a root cause and is not, and hazards that have not struck: one module each, in the folder of what it happens to."""
