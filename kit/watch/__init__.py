"""Watching while it happens: growing files → signs → episodes → alerts."""
