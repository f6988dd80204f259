"""Many incidents together, from the findings.json that `report` and `triage --json` write: no evidence, no Spark."""

from kit.incidents.history import History, Incident, read, start

__all__ = ["History", "Incident", "read", "start"]
