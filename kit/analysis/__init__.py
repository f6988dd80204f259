"""Questions to a case's tables: frames, counts and references that causes, charts, labs and commands share. No
verdicts, no sentences of a report.
"""
