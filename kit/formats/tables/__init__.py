"""Configuration, mqadmin output, metrics and delimited files → Arrow."""
