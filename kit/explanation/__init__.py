"""What pasted log lines, codes, ids and settings mean: without evidence folder, Java, Spark or pandas."""
