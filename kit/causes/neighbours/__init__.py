"""What looks like a root cause and is not, and hazards that have not struck: one module each, registered by being here."""
