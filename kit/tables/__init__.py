"""The tables of a case and the queries that make them: bronze as read, silver related, gold the facts that causes examine."""
