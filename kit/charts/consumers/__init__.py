"""Charts of consumer groups: lag, owners, offsets, addresses."""
