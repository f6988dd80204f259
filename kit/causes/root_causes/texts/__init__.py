"""Sentences of root causes that have many, one module a cause."""
