"""Findings and executed notebooks → one offline page, CSV files, a manifest; and what the commands print."""
