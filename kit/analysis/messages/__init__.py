"""Messages: their copies, stages, ids, deliveries and traces."""
