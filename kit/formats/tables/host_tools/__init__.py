"""Outputs of the tools that measure a host: one module for each family, each a function lines → values."""
