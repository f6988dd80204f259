"""What people paste, as it was printed: lines, ids, and what they complain of in their own words. Python's standard library and attrs only."""
