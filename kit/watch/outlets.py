"""Where alerts go: JSON lines, a folder with the evidence around them; and where figures go: Prometheus.

A capture is what the watch just read, no cold page of a store: ends of logs, last records, settings and offsets.
"""

import contextlib
import errno
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from prometheus_client import CollectorRegistry, registry, start_http_server, write_to_textfile
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from kit.evidence import disk
from kit.evidence.files import open_raw, walk
from kit.formats.logs.entries import line_feed
from kit.inventory.model import STORES
from kit.watch.loop import Watch

Alert = dict[str, Any]
Outlet = Callable[[Alert], None]

TAIL: Final = 1 << 20
"""Bytes at the end of an alerts file that are searched for alerts a killed process has already written."""


def lines(target: str) -> Outlet:
    """Return a function that appends alerts to a file, `-` for standard output, each once."""
    if target == "-":
        return lambda alert: print(json.dumps(alert, ensure_ascii=False), flush=True)
    path = Path(target)

    def append(alert: Alert) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        try:
            size = os.fstat(handle).st_size
            end = os.pread(handle, min(size, TAIL), max(0, size - TAIL))
            # A process killed while writing leaves half a line: that alert is not in the file yet.
            whole = end[: end.rfind(b"\n") + 1]
            if f'"id": {json.dumps(alert["id"])}'.encode() in whole:
                return
            line = (b"" if whole == end else b"\n") + json.dumps(alert, ensure_ascii=False).encode() + b"\n"
            if os.write(handle, line) < len(line):  # the disk is full now: what fitted is no alert
                os.ftruncate(handle, size)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), target)
        finally:
            os.close(handle)

    return append


# --- the evidence around an alert -------------------------------------------------------------------------------------

LOG: Final = 8 << 20
"""Bytes copied from the end of a log."""
STORE: Final = 64 << 20
"""Bytes copied from the end of a commitlog."""
SMALL: Final = 1 << 20
"""Largest file of settings or offsets that is copied, in bytes."""
KEPT: Final = 20
"""Most captures in one folder; later alerts are not captured, so that a watch never fills the disk it warns about."""
SPARE: Final = 1 << 30
"""Bytes kept free on the disk of the captures."""
_SETTINGS: Final = re.compile(r"\.(json|conf|properties|ya?ml|xml)$")


def capture(watch: Watch, name: str, into: Path) -> Path | None:
    """Copy the evidence around an alert into `into/name`; return that folder, None if there is no space."""
    folder = disk.private(into) / re.sub(r"[^\w.-]", "_", name)
    full = sum(each.is_dir() for each in into.iterdir()) >= KEPT or shutil.disk_usage(into).free < SPARE + STORE
    if full or folder.exists():
        return None
    disk.private(folder)
    for number, root in enumerate(watch.roots):
        target, left = folder / str(number) if len(watch.roots) > 1 else folder, STORE
        places = [each for each in watch.state.places.values() if each.root == number and each.at and not each.gone]
        read = {each.name: each for each in places}
        for file, path, info in reversed(walk(root)[0]):  # of a store its last file first
            place = read.get(file)
            if place is None:
                if info.st_size <= SMALL and _SETTINGS.search(file):
                    _copy(path, target / file, 0, SMALL)
            elif place.kind not in STORES:
                _copy(path, target / file, max(0, place.at - LOG), place.at + LOG)
            elif left > 0:
                _copy(path, target / file, max(0, place.at - left), place.at, hole=True)
                left -= place.at
    return folder


def _copy(path: Path, target: Path, start: int, end: int, *, hole: bool = False) -> None:
    """Copy bytes of a file: whole lines, or with a `hole` before them, so that records keep their positions."""
    with contextlib.suppress(OSError), open_raw(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        begin = start if hole or not start else line_feed(stream, start, size) + 1
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("wb") as out:
            if hole:
                out.truncate(size)
                out.seek(begin)
            stream.seek(begin)
            while data := stream.read(max(0, min(1 << 20, end - stream.tell()))):
                out.write(data)


# --- figures for Prometheus -------------------------------------------------------------------------------------------

PREFIX: Final = "rmq_kit_watch_"
LOOPBACK: Final = "127.0.0.1"


class Collector(registry.Collector):
    def __init__(self, watch: Watch) -> None:
        self.watch = watch

    def collect(self) -> Iterator[Metric]:
        """Yield each figure: its kind, name and meaning, its labels, and its values by label."""
        figures, episodes = self.watch.figures, self.watch.state.episodes.open
        rings = {(each.cause, each.severity, " ".join(each.place)): 1 for each in episodes}
        counter, gauge = CounterMetricFamily, GaugeMetricFamily
        rows: list[tuple[Any, str, str, list[str], Mapping[Any, float]]] = [
            (counter, "signs", "Signs seen: known log texts, stages of records.", ["sign"], figures.signs),
            (counter, "records", "Records read, by what they are.", ["stage"], figures.stages),
            (gauge, "alert", "1 while an episode lasts.", ["cause", "severity", "place"], rings),
            (gauge, "disk_free_bytes", "Bytes free on the disk of a store.", ["path"], figures.free),
            (counter, "entries", "Log entries read.", [], {(): figures.entries}),
            (counter, "read_bytes", "Bytes read.", [], {(): figures.read}),
            (gauge, "step_seconds", "Seconds the last step took.", [], {(): figures.seconds}),
        ]
        for kind, name, meaning, labels, values in rows:
            metric = kind(PREFIX + name, meaning, labels=labels)
            for key, value in list(values.items()):
                metric.add_metric([key] if isinstance(key, str) else list(key), value)
            yield metric


def serve_figures(watch: Watch, port: int, address: str = LOOPBACK) -> int:
    """Serve the figures until the process ends; return the port (a free one for 0)."""
    every = CollectorRegistry()
    every.register(Collector(watch))
    server, _ = start_http_server(port, address, every)
    return int(server.server_port)


def write_figures(watch: Watch, path: Path) -> None:
    """Write the figures to a file, completely or not at all."""
    try:
        write_to_textfile(str(path), Collector(watch))
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from None
