"""Known log texts."""
from __future__ import annotations
from functools import cache
import attrs, pyarrow as pa
@attrs.frozen
class Event:
    slug: str
    needles: tuple[str, ...]
EVENTS = (Event("message-size-exceeded", ("size exceeded, msg ",)), Event("put-back-failed", ("PutBackToHalfQueueReturnResult write failed",)), Event("check-discard", ("has been checked too many times, so discard it",)))
@cache
def slugs():
    return pa.array([e.slug for e in EVENTS], pa.string())
def needles():
    from kit.read.needles import compile_needles
    return compile_needles(tuple(e.needles for e in EVENTS))
