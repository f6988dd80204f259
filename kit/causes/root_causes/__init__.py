"""The root causes: `<slug>.yaml` declares, the module beside it examines. How to add one: docs/adding-a-cause.md."""
