"""Many incidents together: their history, similar incidents and why, an index page.

Reads the findings.json that `report` and `triage --json` write; no evidence, no Spark.
"""

from __future__ import annotations

from kit.incidents.history import History, start
from kit.incidents.reading import Incident, read

__all__ = ["History", "Incident", "read", "start"]
