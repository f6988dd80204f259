"""Sends: which failed, why, and what became of their messages."""
