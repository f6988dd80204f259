"""Known log texts, by the log they stand in."""
