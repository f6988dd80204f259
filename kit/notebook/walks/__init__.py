"""What follows from the answers of each investigation: one module a notebook, one sentence a stop, right for any evidence."""
