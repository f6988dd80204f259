"""The root causes: one module each, its sentences in `texts/` where they are many. How to add one: docs/adding-a-cause.md."""
