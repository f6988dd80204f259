"""Open evidence, read-only: folders, archives, streams, object storage."""
