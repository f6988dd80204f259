"""The root causes: one module each; long lists of sentences are in `texts/`. How to add one: docs/adding-a-cause.md."""
