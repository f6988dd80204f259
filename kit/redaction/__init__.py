"""Reports without the names of a site: pseudonyms that still join."""
