"""`nbformat`, imported without a grammar that notebooks do not need.

nbformat checks notebooks with jsonschema, which on import builds a parser for internationalised addresses, two seconds
of work. The schema of notebooks uses no such format; jsonschema skips it if the parser's package is absent.
"""

import sys
from typing import Any, Final, cast

GRAMMAR: Final = "rfc3987_syntax"

__all__ = ["nbformat"]

_absent = "jsonschema" not in sys.modules and GRAMMAR not in sys.modules
if _absent:
    # None in sys.modules makes the import of a module fail.
    cast("dict[str, Any]", sys.modules)[GRAMMAR] = None
try:
    import nbformat
finally:
    if _absent:
        del sys.modules[GRAMMAR]
