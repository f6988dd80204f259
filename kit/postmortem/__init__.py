"""The blameless postmortem: what the kit found and what the team knows, on one offline page.

`kit.postmortem.start(evidence, notes="notes.yaml").write("postmortem.html")`. It is built from an `Inquiry`, like notebooks.
"""

from __future__ import annotations

from kit.postmortem.page import BadNotes, Postmortem, noted, start, template

__all__ = ["BadNotes", "Postmortem", "noted", "start", "template"]
