"""Invented complaints as people paste them: chat, issue trackers, blogs, terminals; and what is to be said about each (`pastes.yaml`)."""

import attrs
from table import rows_of

UNIQ = "AC1E28051F4418B4AAC2691A0C3B0007"
OFFSET = "AC1E280900002A9F000000000004B3C8"
IDENTITY = "message-identity"
CONSISTENCY = "transaction-consistency"


@attrs.frozen
class Paste:
    name: str
    text: str
    causes: dict[str, str] = attrs.field(factory=dict)
    also: tuple[str, ...] = ()
    slugs: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()


KINDS = ("two_ids", "not_two_ids", "slow", "refused", "put_back", "overtaken", "others")
OF_KIND = {kind: [Paste(**row) for row in rows_of(__file__, kind)] for kind in KINDS}
OVERTAKEN = OF_KIND["overtaken"]
EVERY = [paste for kind in KINDS for paste in OF_KIND[kind]]
