"""The tables of a case and their queries: bronze as read, silver related, gold the facts that causes examine."""
