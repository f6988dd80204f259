"""What looks like a root cause, and hazards that have not struck: `<slug>.yaml`, with a function where it needs one."""
