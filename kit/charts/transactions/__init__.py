"""Charts of transactions: the half topic, the accounts, the placement of the half message."""
