"""The root causes: one module each, its sentences beside it where they are many. How to add one: docs/adding-a-cause.md."""
