"""Consume queue and index files → Arrow."""
