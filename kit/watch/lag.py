"""The current lag of groups: saved offsets against the ends of the queues, sampled as offsets are saved.

Offsets come from the broker's consumerOffset.json and from what consumers print when they save them; ends from the
consume queues. A burst that drains is no backlog: lag counts as growing after `GROWS` seconds of growth in every queue.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import attrs
import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from kit.causes.alerts import LAG_GROWS, QUEUE_STANDS
from kit.evidence.files import open_raw, walk
from kit.formats.queues import consumequeue
from kit.formats.tables import configs
from kit.formats.values import integer
from kit.inventory.references import Ref
from kit.rocketmq import names
from kit.rocketmq.catalogue import EVENTS
from kit.watch.signs import Sign

SAVED: Final = "consumer-offset-saved"
GROWS: Final = 60.0
STALLED_AFTER: Final = 30.0
LEAST: Final = 500
"""Smallest lag in messages that is reported; less is normal if consumers work in batches."""
SAMPLES: Final = 6
"""Fewest samples in that time: offsets are saved every 5 s (flushConsumerOffsetInterval)."""
KEPT: Final = 1.5 * GROWS
"""How long samples are kept, in seconds."""
GROUPS: Final = 500
MOST: Final = 16 << 20
"""Bytes of an offsets file that are read."""
_OFFSETS: Final = "consumerOffset.json"


Samples = list[tuple[float, dict[int, tuple[int, int]]]]
"""(time, {queue: (offset, end)})."""


class Followed(msgspec.Struct):
    """Offsets of one group in one topic: now, and as sampled; `counted`: the lag already counted as a sign."""

    group: str
    topic: str
    offsets: dict[int, int] = {}
    samples: Samples = []
    ref: Ref = Ref("")
    is_new: bool = False
    counted: int = 0


@attrs.define
class Lags:
    """The lag of every group in the stores below one folder. `groups` is kept between runs, by group and topic."""

    root: Path
    groups: dict[str, Followed]
    ends: dict[tuple[str, int], int] = attrs.field(factory=dict)
    _changed: dict[Path, int] = attrs.field(factory=dict)
    _used: dict[Path, int] = attrs.field(factory=dict)

    def look(self) -> None:
        """Read the ends of the queues and offsets that were saved since the last look."""
        queues: dict[tuple[str, int], tuple[int, Path, str]] = {}
        for name, path, info in walk(self.root)[0]:
            place = consumequeue.place(name)
            with contextlib.suppress(OSError):
                if place is not None and place[0] == "plain":
                    queues[place[1:3]] = max(queues.get(place[1:3], (-1, path, name)), (place[3], path, name))
                elif path.name == _OFFSETS and self._changed.get(path) != info.st_mtime_ns and info.st_size <= MOST:
                    self._changed[path] = info.st_mtime_ns
                    self._offsets(name, path)
        for queue, (first, path, name) in queues.items():
            with contextlib.suppress(OSError), open_raw(path) as stream:
                end = self._used[path] = consumequeue.used(stream, name, self._used.get(path, 0))
                self.ends[queue] = (first + end) // consumequeue.PLAIN.itemsize

    def _offsets(self, name: str, path: Path) -> None:
        with open_raw(path) as stream:
            data = stream.read(MOST)
        # The broker is just writing it: the next look finds it complete.
        with contextlib.suppress(ValueError):
            for row in configs.offsets(name, data, {"name": "consumerOffset", "backup": False}, "config"):
                ref = Ref(name, line=row["line"])
                self._save(row["group"] or "", row["topic"], row["queue_id"], row["value"], ref)

    def printed(self, batch: pa.RecordBatch) -> None:
        """Read the offsets that consumers print when they save them."""
        has = pc.list_parent_indices(batch.column("events")).filter(
            pc.equal(pc.list_flatten(batch.column("events")), SAVED)
        )
        for row in has.to_pylist():
            text = batch.column("message")[row].as_py() or ""
            if match := EVENTS[SAVED].compiled.search(text):
                ref = Ref(batch.column("file")[row].as_py(), line=batch.column("line")[row].as_py(), text=text[:300])
                self._save(match["group"], match["topic"], integer(match["queue_id"]), integer(match["offset"]), ref)

    def _save(self, group: str, topic: str, queue: int | None, offset: int | None, ref: Ref) -> None:
        own = topic.startswith((names.RETRY_PREFIX, names.DLQ_PREFIX)) or topic in names.SYSTEM_TOPICS
        if queue is None or offset is None or offset < 0 or own or not group:
            return
        key = f"{group}\x1f{topic}"
        if key not in self.groups and len(self.groups) >= GROUPS:
            return
        followed = self.groups.setdefault(key, Followed(group, topic))
        followed.offsets[queue] = offset
        followed.ref, followed.is_new = ref, True

    def signs(self, now: float) -> Iterator[Sign]:
        """Sample the saved offsets, and yield the signs in the samples."""
        for followed in self.groups.values():
            group, topic = followed.group, followed.topic
            offsets = followed.offsets if followed.is_new else {}
            sample = {q: (at, self.ends[topic, q]) for q, at in offsets.items() if (topic, q) in self.ends}
            followed.is_new = False
            if not sample:
                continue
            followed.samples = [*(each for each in followed.samples if each[0] > now - KEPT), (now, sample)]
            values: dict[str, str | None] = {"group": group, "topic": topic, "thread": None}
            lag = grows(followed.samples)
            if lag is not None:
                text = f"{group} {topic}: {_total(_since(followed.samples, GROWS)[0][1])} → {lag}"
                ref = attrs.evolve(followed.ref, text=text)
                yield Sign(LAG_GROWS, int(now), max(1, lag - followed.counted), ref, values)
            followed.counted = lag or 0
            for queue, offset in stalled(followed.samples):
                text = f"{group} {topic} queue {queue}: {offset}, {sample[queue][1] - offset}"
                ref = attrs.evolve(followed.ref, text=text)
                own = {**values, "queue_id": str(queue), "offset": str(offset)}
                yield Sign(QUEUE_STANDS, int(now), 1, ref, own)

    def present(self) -> dict[tuple[str, str], int]:
        """Return the lag of each group and topic as last sampled."""
        every = [each for each in self.groups.values() if each.samples]
        return {(each.group, each.topic): _total(each.samples[-1][1]) for each in every}


def _total(sample: dict[int, tuple[int, int]]) -> int:
    return sum(max(0, end - offset) for offset, end in sample.values())


def _since(samples: Samples, seconds: float) -> Samples:
    """Return the samples of the last `seconds`, and the one before, so that they span that time."""
    last = samples[-1][0]
    inside = [n for n, (at, _) in enumerate(samples) if at > last - seconds]
    return samples[max(0, inside[0] - 1) :]


def grows(samples: Samples) -> int | None:
    """Return the lag if it has grown for `GROWS` seconds in every queue although offsets advanced, else None."""
    recent = _since(samples, GROWS)
    (began, first), (ended, last) = recent[0], recent[-1]
    if ended - began < GROWS or len(recent) < SAMPLES or set(first) != set(last):
        return None
    lags = [_total(sample) for _, sample in recent]
    offsets = [sum(offset for offset, _ in sample.values()) for _, sample in recent]
    steady = all(b >= a for a, b in itertools.pairwise(lags))
    advance = all(b > a for a, b in itertools.pairwise(offsets))
    everywhere = all(last[q][1] - last[q][0] > first[q][1] - first[q][0] for q in last)
    # Doubled within the time, or grown by a reportable number.
    much = lags[-1] >= LEAST and (lags[-1] >= 2 * lags[0] or lags[-1] - lags[0] >= LEAST)
    return lags[-1] if steady and advance and everywhere and much else None


def stalled(samples: Samples) -> list[tuple[int, int]]:
    """Return (queue, offset) of queues that grew and did not move for `STALLED_AFTER` seconds, while most others did.

    If half of the queues do not move, nobody pulls them, which is another problem.
    """
    recent = _since(samples, STALLED_AFTER)
    (began, first), (ended, last) = recent[0], recent[-1]
    if ended - began < STALLED_AFTER or len(recent) < 4:
        return []
    still = [
        (q, at)
        for q, (at, end) in last.items()
        if end > at and q in first and end > first[q][1] and all(q in s and s[q][0] == at for _, s in recent)
    ]
    moved = [q for q, (at, _) in last.items() if q in first and at > first[q][0]]
    return still if still and 2 * len(still) < len(last) and len(moved) > len(still) else []
