"""Many incidents beside each other: what happened before and after, what resembles what and why, an index page.

Reads the findings.json that `report` and `triage --json` write; no evidence, no Spark.
"""

from __future__ import annotations

from kit.incidents.history import History, start
from kit.incidents.likeness import Match, alike, traits
from kit.incidents.reading import Incident, read

__all__ = ["History", "Incident", "Match", "alike", "read", "start", "traits"]
