"""The commands of `kit.cli`."""
