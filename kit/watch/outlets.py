"""Where alerts go: JSON lines, a command's standard input, a folder with the evidence around them; and where figures go: Prometheus.

`rmq-kit cut` opens all evidence to choose from it; on a running broker's host that would read every cold page of its store. So only what the watch
has just read is captured: the end of each log, the last records at their own offsets, and small files of settings and offsets.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import IO, Any, Final

from prometheus_client import CollectorRegistry, registry, start_http_server, write_to_textfile
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from kit.evidence import disk
from kit.evidence.files import open_raw, walk
from kit.i18n import printable
from kit.inventory.following import Place
from kit.watch.loop import Watch

Alert = dict[str, Any]
Outlet = Callable[[Alert], None]

TAIL: Final = 1 << 20
"""Bytes at the end of an alerts file that are searched for alerts a killed process has already written."""
HOOK_SECONDS: Final = 30
"""Seconds a hook may take; then it is killed, and the watch goes on."""
MOST_SAID: Final = 2000
"""Bytes shown of what a hook prints."""


def encoded(alert: Alert) -> str:
    return json.dumps(alert, ensure_ascii=False)


def lines(target: str) -> Outlet:
    """Return a function that appends alerts to a file, `-` for standard output. An alert already in the file is not added again."""
    if target == "-":

        def say(alert: Alert) -> None:
            print(encoded(alert), flush=True)

        return say
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
            line = (b"" if whole == end else b"\n") + encoded(alert).encode() + b"\n"
            if os.write(handle, line) < len(line):  # the disk is full now: what fitted is no alert
                os.ftruncate(handle, size)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), target)
        finally:
            os.close(handle)

    return append


def hook(command: Sequence[str], complain: Callable[[str], None]) -> Outlet:
    """Return a function that passes each alert to a command on standard input: without a shell, and never as an argument."""

    def run(alert: Alert) -> None:
        try:
            child = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            complain(f"{command[0]}: {error.strerror or error}")
            return
        said = bytearray()
        reader = threading.Thread(target=_read, args=(child.stdout, said), daemon=True)
        reader.start()
        stop = threading.Timer(HOOK_SECONDS, lambda: _kill(child))
        stop.start()
        try:
            with contextlib.suppress(OSError), child.stdin as line:  # type: ignore[union-attr]
                line.write(encoded(alert).encode() + b"\n")
            code = child.wait()
        finally:
            stop.cancel()
        reader.join(1)
        if text := printable(bytes(said[:MOST_SAID]).decode(errors="replace").strip().replace("\n", " ")):
            complain(f"{command[0]}: {text}{'…' if len(said) > MOST_SAID else ''}")
        if code:
            complain(f"{command[0]}: {code}")

    return run


def _read(stream: IO[bytes], said: bytearray) -> None:
    """Take what a hook prints, so that it never waits, and keep the beginning of it."""
    with contextlib.suppress(OSError, ValueError):
        while data := stream.read1(1 << 16):  # type: ignore[attr-defined]
            said += data[: max(0, MOST_SAID + 1 - len(said))]


def _kill(child: subprocess.Popen[bytes]) -> None:
    """End a hook that takes too long, with everything it started."""
    with contextlib.suppress(OSError):
        os.killpg(child.pid, signal.SIGKILL)


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
    folder = into / re.sub(r"[^\w.-]", "_", name)
    disk.private(into)
    if folder.exists() or sum(1 for each in into.iterdir() if each.is_dir()) >= KEPT:
        return None
    if shutil.disk_usage(into).free < SPARE + STORE:
        return None
    disk.private(folder)
    for root, path in enumerate(watch.roots):
        target = folder / str(root) if len(watch.roots) > 1 else folder
        _logs(path, _of(watch.kept.logs.values(), root), target)
        _records(path, _of(watch.kept.stores.values(), root), target)
        _settings(path, target)
    return folder


def _of(places: Iterable[Place], root: int) -> list[Place]:
    return [place for place in places if place.root == root and not place.gone and place.at > 0]


def _source(root: Path, place: Place) -> Path:
    return root if root.is_file() else root / place.name


def _logs(root: Path, places: Sequence[Place], target: Path) -> None:
    for place in places:
        with contextlib.suppress(OSError), open_raw(_source(root, place)) as stream:
            end = os.fstat(stream.fileno()).st_size
            start = max(0, min(place.at, end) - LOG)
            data = os.pread(stream.fileno(), end - start if end - start < 2 * LOG else 2 * LOG, start)
            _write(target, place.name, data[data.find(b"\n") + 1 :] if start else data)


def _records(root: Path, places: Sequence[Place], target: Path) -> None:
    left = STORE
    for place in sorted(places, key=lambda each: each.name, reverse=True):
        with contextlib.suppress(OSError), open_raw(_source(root, place)) as stream:
            start = max(0, place.at - left)
            left -= place.at - start
            path = _file(target, place.name)
            with path.open("wb") as out:
                # The part before is a hole: records keep their positions.
                out.truncate(os.fstat(stream.fileno()).st_size)
                out.seek(start)
                for at in range(start, place.at, 1 << 20):
                    out.write(os.pread(stream.fileno(), min(1 << 20, place.at - at), at))
        if left <= 0:
            return


def _settings(root: Path, target: Path) -> None:
    for name, path, info in walk(root)[0]:
        if info.st_size <= SMALL and _SETTINGS.search(name):
            with contextlib.suppress(OSError), open_raw(path) as stream:
                _write(target, name, stream.read(SMALL))


def _file(target: Path, name: str) -> Path:
    path = target / PurePosixPath(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _write(target: Path, name: str, data: bytes) -> None:
    _file(target, name).write_bytes(data)


# --- figures for Prometheus -------------------------------------------------------------------------------------------

PREFIX: Final = "rmq_kit_watch_"
LOOPBACK: Final = "127.0.0.1"
MOST_LAGS: Final = 500
"""Most groups and topics whose lag is reported, the largest first."""


class Collector(registry.Collector):
    """Reads a watch at each scrape."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch

    def collect(self) -> Iterator[Metric]:
        """Yield each figure: its kind, name and meaning, and its values by label."""
        figures, episodes = self.watch.figures, list(self.watch.kept.episodes.open.values())
        lags = sorted(figures.lag.items(), key=lambda each: -each[1])[:MOST_LAGS]
        yield _labelled(
            CounterMetricFamily, "signs", "Signs seen: known log texts, stages of records.", ["sign"], figures.signs
        )
        yield _labelled(CounterMetricFamily, "records", "Records read, by what they are.", ["stage"], figures.stages)
        rings = {(each.cause, each.severity, " ".join(each.key)): 1 for each in episodes}
        yield _labelled(GaugeMetricFamily, "alert", "1 while an episode lasts.", ["cause", "severity", "place"], rings)
        yield _labelled(
            GaugeMetricFamily, "lag_messages", "Messages a group is behind.", ["group", "topic"], dict(lags)
        )
        yield _labelled(
            GaugeMetricFamily, "disk_free_bytes", "Bytes free on the disk of a store.", ["path"], figures.free
        )
        if figures.full_in is not None:
            yield GaugeMetricFamily(PREFIX + "disk_full_seconds", "Seconds until the disk is full.", figures.full_in)
        yield CounterMetricFamily(PREFIX + "entries", "Log entries read.", figures.entries)
        yield CounterMetricFamily(PREFIX + "read_bytes", "Bytes read.", figures.read)
        yield GaugeMetricFamily(PREFIX + "step_seconds", "Seconds the last step took.", figures.seconds)


def _labelled(kind: Any, name: str, meaning: str, labels: list[str], values: Mapping[Any, float]) -> Metric:
    made = kind(PREFIX + name, meaning, labels=labels)
    for key, value in list(values.items()):
        made.add_metric([key] if isinstance(key, str) else list(key), value)
    return made


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
