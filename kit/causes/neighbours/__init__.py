"""Problems that look like a root cause, and hazards that have not struck: one module each, in the folder of what they affect."""
