"""The commands of `kit.cli`, by what they need."""
