"""Opening what somebody copied: folders, archives, streams, object storage. Read-only."""
