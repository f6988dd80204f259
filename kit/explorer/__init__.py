"""All evidence of a case at once, narrowed by clicking: linked views over narrow copies of its logs and records."""
