"""Which file is what, in which zone, a copy of which; quoting a line or a record."""
