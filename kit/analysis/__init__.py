"""Questions to a case's tables: frames, counts, references for causes, charts, labs and commands. No verdicts."""
