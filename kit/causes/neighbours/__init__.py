"""Problems that look like a root cause, and hazards that have not struck: `<slug>.yaml`, and where
counting is not enough, a function of that name in the module that it names.
"""
