"""What each file is, its zone, and its copies; quoting a line or a record."""
