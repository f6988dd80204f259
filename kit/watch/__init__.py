"""Live watching: growing files → signs → episodes → alerts."""
