"""Many incidents together: their history, similar incidents and why, an index page.

Reads the findings.json that `report` and `triage --json` write; no evidence, no Spark.
"""

from __future__ import annotations

from kit.incidents.history import History, start
from kit.incidents.reading import Incident, Match, alike, read, traits

__all__ = ["History", "Incident", "Match", "alike", "read", "start", "traits"]
