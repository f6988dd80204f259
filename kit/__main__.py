"""`python -m kit`."""

from kit.cli.main import main

main()
