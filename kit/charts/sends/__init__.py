"""Charts of sends: the busy broker, what a replica holds."""
