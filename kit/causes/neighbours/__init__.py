"""Problems that look like a root cause, and hazards that have not struck: `<slug>.yaml`, and a module beside it where
counting is not enough.
"""
