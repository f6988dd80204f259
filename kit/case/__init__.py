"""The tables of one evidence and their cache."""
