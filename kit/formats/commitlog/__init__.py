"""Commit log files → Arrow."""
