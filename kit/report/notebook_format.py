"""`nbformat`, imported without a grammar that no notebook asks for.

nbformat checks notebooks with jsonschema, which on import builds a parser for internationalised addresses, two seconds of work. The schema of
notebooks names no such format; jsonschema goes without where the parser's package is absent.
"""

from __future__ import annotations

import sys
from typing import Any, Final, cast

GRAMMAR: Final = "rfc3987_syntax"

__all__ = ["nbformat"]

_absent = "jsonschema" not in sys.modules and GRAMMAR not in sys.modules
if _absent:
    # None in the table of modules is Python's own way to say that a module cannot be imported.
    cast("dict[str, Any]", sys.modules)[GRAMMAR] = None
try:
    import nbformat
finally:
    if _absent:
        del sys.modules[GRAMMAR]
