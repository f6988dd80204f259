"""How the evidence is read into the tables of a case: records and logs, small files, and the zones of their times."""
