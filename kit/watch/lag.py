"""The current lag of groups: saved offsets against the ends of the queues, sampled as offsets are saved.

Offsets come from the broker's consumerOffset.json and from what consumers print when they save them; ends from the
consume queues. A burst that drains is no backlog: lag counts as growing after `GROWS` seconds of growth in every queue.
"""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import attrs
import msgspec
import numpy as np

from kit.causes.alerts import LAG_GROWS, QUEUE_STANDS
from kit.evidence.files import open_raw, walk
from kit.formats import queues
from kit.formats.tables import configs
from kit.formats.values import integer
from kit.inventory.model import Ref
from kit.rocketmq import names
from kit.watch.episodes import Sign

GROWS: Final = 60.0
STALLED_AFTER: Final = 30.0
LEAST: Final = 500
"""Smallest lag in messages that is reported; less is normal if consumers work in batches."""
SAMPLES: Final = 6
"""Fewest samples in that time: offsets are saved every 5 s (flushConsumerOffsetInterval)."""
GROUPS: Final = 500
MOST: Final = 16 << 20
"""Bytes of an offsets file that are read."""

Samples = list[tuple[float, dict[int, tuple[int, int]]]]
"""(time, {queue: (offset, end)})."""


class Followed(msgspec.Struct):
    """Offsets of a group in a topic, saved since the last sample, and as sampled; `counted`: lag counted as a sign."""

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

    def look(self) -> None:
        """Read the ends of the queues and offsets that were saved since the last look."""
        last: dict[tuple[str, int], tuple[Path, int, int]] = {}
        for name, path, info in walk(self.root)[0]:  # in order of name: the last file of a queue has its end
            place = queues.place(name)
            if place is not None:
                last[place[:2]] = path, place[2], info.st_size
            elif path.name == "consumerOffset.json" and self._changed.get(path) != info.st_mtime_ns:
                self._changed[path] = info.st_mtime_ns
                # A file that the broker is just writing is complete at the next look.
                with contextlib.suppress(OSError, ValueError), open_raw(path) as stream:
                    kind = {"name": "consumerOffset", "backup": False}
                    for row in configs.offsets(name, stream.read(MOST), kind, "config"):
                        self._save(
                            row["group"], row["topic"], row["queue_id"], row["value"], Ref(name, line=row["line"])
                        )
        unit = queues.UNIT.itemsize
        for queue, (path, first, size) in last.items():
            with contextlib.suppress(OSError), open_raw(path) as stream:
                known = self.ends.get(queue, 0) * unit - first
                end = queues.used(stream, known if 0 <= known <= size else 0)
                self.ends[queue] = (first + end) // unit

    def printed(self, sign: Sign) -> None:
        """Note an offset that a consumer printed when it saved it."""
        group, topic, queue, offset = map(sign.values.get, ("group", "topic", "queue_id", "offset"))
        self._save(group, topic, integer(queue), integer(offset), sign.ref)

    def _save(self, group: str | None, topic: str | None, queue: int | None, offset: int | None, ref: Ref) -> None:
        if not group or not topic or queue is None or offset is None or offset < 0:
            return
        key = f"{group}\x1f{topic}"
        own = topic.startswith((names.RETRY_PREFIX, names.DLQ_PREFIX)) or topic in names.SYSTEM_TOPICS
        if not own and (key in self.groups or len(self.groups) < GROUPS):
            followed = self.groups.setdefault(key, Followed(group, topic))
            followed.offsets[queue] = offset
            followed.ref, followed.is_new = ref, True

    def signs(self, now: float) -> Iterator[Sign]:
        """Sample the saved offsets, and yield the signs in the samples."""
        for followed in self.groups.values():
            group, topic, is_new, followed.is_new = followed.group, followed.topic, followed.is_new, False
            sample = {q: (at, self.ends[topic, q]) for q, at in followed.offsets.items() if (topic, q) in self.ends}
            if not is_new or not sample:
                continue
            recent = [each for each in followed.samples if each[0] > now - 1.5 * GROWS]
            followed.samples = [*recent, (now, sample)]
            values: dict[str, str | None] = {"group": group, "topic": topic, "thread": None}
            before, lag = grows(followed.samples) or (0, 0)
            if lag:
                ref = attrs.evolve(followed.ref, text=f"{group} {topic}: {before} → {lag}")
                yield Sign(LAG_GROWS, int(now), max(1, lag - followed.counted), ref, values)
            followed.counted = lag
            for queue in stalled(followed.samples):
                offset, end = sample[queue]
                ref = attrs.evolve(followed.ref, text=f"{group} {topic} queue {queue}: {offset}, {end - offset}")
                yield Sign(QUEUE_STANDS, int(now), 1, ref, {**values, "queue_id": str(queue), "offset": str(offset)})

    def present(self) -> dict[tuple[str, str], int]:
        return {
            (each.group, each.topic): sum(max(0, end - offset) for offset, end in each.samples[-1][1].values())
            for each in self.groups.values()
            if each.samples
        }


def _recent(samples: Samples, seconds: float, fewest: int) -> tuple[list[int], np.ndarray, np.ndarray]:
    """Return the queues, and their offsets and ends by sample: of the last `seconds` and the one sample before, so that
    they span that time. No queues where there are fewer than `fewest`.
    """
    inside = sum(at > samples[-1][0] - seconds for at, _ in samples)
    recent = samples[-inside - 1 :]
    if recent[-1][0] - recent[0][0] < seconds or len(recent) < fewest:
        recent = [(0.0, {})]
    queues = [queue for queue in recent[0][1] if all(queue in sample for _, sample in recent)]
    values = np.array([[sample[queue] for queue in queues] for _, sample in recent]).reshape(len(recent), -1, 2)
    return queues, values[..., 0], values[..., 1]


def grows(samples: Samples) -> tuple[int, int] | None:
    """Return the lag of then and now if it grew for `GROWS` seconds in every queue although offsets advanced."""
    queues, offsets, ends = _recent(samples, GROWS, SAMPLES)
    lags = np.maximum(0, ends - offsets).sum(axis=1)
    first, last = int(lags[0]), int(lags[-1])
    steady = (np.diff(lags) >= 0).all() and (np.diff(offsets.sum(axis=1)) > 0).all()
    everywhere = len(queues) == len(samples[-1][1]) and ((ends - offsets)[-1] > (ends - offsets)[0]).all()
    # Doubled within the time, or grown by a reportable number.
    much = last >= LEAST and last >= min(2 * first, first + LEAST)
    return (first, last) if steady and everywhere and much else None


def stalled(samples: Samples) -> list[int]:
    """Return the queues that grew and did not move for `STALLED_AFTER` seconds, while most others did.

    If half of the queues do not move, nobody pulls them, which is another problem.
    """
    queues, offsets, ends = _recent(samples, STALLED_AFTER, 4)
    still = (offsets == offsets[-1]).all(axis=0) & (ends[-1] > np.maximum(ends[0], offsets[-1]))
    moved = (offsets[-1] > offsets[0]).sum()
    few = 2 * still.sum() < len(samples[-1][1]) and moved > still.sum()
    return [queue for queue, stands in zip(queues, still, strict=True) if stands] if few else []
