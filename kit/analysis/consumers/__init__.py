"""Who consumes what, how far, from which broker: groups, offsets, reach, replicas."""
