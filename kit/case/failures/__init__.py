"""What could not be read or examined: kept as values that the report shows, so that the rest goes on."""
