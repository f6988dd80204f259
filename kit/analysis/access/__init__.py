"""What keeps clients from their broker: addresses, access control, missing topics."""
