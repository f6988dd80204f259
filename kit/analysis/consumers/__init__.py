"""Consumption: groups, offsets, reach, replicas."""
