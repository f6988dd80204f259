"""Charts of sizes: how a record grows, and its limit."""
