"""Timings of the kit beside what else could do the same work: `make bench`. Nothing here is a test."""
