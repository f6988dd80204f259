"""The watch as a process: it steps, stores its state and sends alerts until it is stopped.

Its state folder holds places, episodes and unsent alerts, so that a new process continues where one was killed; only
one watch uses it at a time.
"""

import contextlib
import hashlib
import itertools
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import click
import msgspec
import pyarrow as pa

from kit.case import output
from kit.causes.alerts import STAGE
from kit.evidence import disk
from kit.evidence.workspace import default_base
from kit.i18n import Lang, labels, printable
from kit.watch.loop import Watch, WatchState
from kit.watch.outlets import Outlet

NICE: Final = 10
TEXTS: Final = labels("watch")["run"]
UNWRITABLE: Final = labels("case")["output"]["unwritable"]
MOST_LATE: Final = 1000
"""Most alerts kept for an outlet that cannot take them."""
AT_ONCE: Final = 1000
"""Most steps of `--once`: a writer that is faster than the watch does not keep it from ending."""

STATE: Final = "rmq-kit-watch.json"


def default(roots: Sequence[Path]) -> Path:
    name = hashlib.sha256("\0".join(sorted(str(root.resolve()) for root in roots)).encode("utf-8", "surrogateescape"))
    return default_base() / "watch" / name.hexdigest()[:16]


@contextlib.contextmanager
def alone(folder: Path, lang: Lang = "en") -> Iterator[None]:
    """Create the folder and keep others out. Raise `OutputRefused` if it has anything the kit did not write."""
    if folder.is_symlink():
        raise output.refused("link", folder, lang)
    with output.one_line(folder, lang):
        disk.private(folder)
        foreign = sorted(path.name for path in folder.iterdir() if STATE not in path.name)
        if foreign:
            raise output.refused("foreign", folder, lang, name=foreign[0])
    with output.alone(folder, lang):
        yield


def load(folder: Path, complain: Callable[[str], None] = lambda text: None, lang: Lang = "en") -> WatchState:
    """Return the stored state; a damaged one (or one of another version) is said, and replaced by a new one."""
    path = folder / STATE
    try:
        state = msgspec.json.decode(path.read_bytes(), type=WatchState)
        for place in state.places.values():  # of what grew since that process only the last change is known
            place.size = 0
        return state
    except FileNotFoundError:
        pass
    except (OSError, msgspec.MsgspecError) as error:
        complain(TEXTS["damaged"].say(path=str(path), why=printable(str(error))[:200]).render(lang))
    return WatchState()


def save(folder: Path, state: WatchState, *, durable: bool) -> None:
    """Write the state completely or not at all; `durable`: flush it to disk first, for alerts."""
    disk.write_text(folder / STATE, msgspec.json.encode(state).decode(), private=True, durable=durable)


def begin() -> None:
    """Use one core, with the lowest priority. SIGTERM, and SIGINT in the background, are `KeyboardInterrupt`s."""
    os.nice(NICE)
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    signal.signal(signal.SIGINT, signal.default_int_handler)


class Sender:
    """Sends alerts, stores the state. A place that cannot be written to is named once; the watch goes on."""

    def __init__(self, watch: Watch, folder: Path, outlets: Sequence[Outlet], complain: Callable[[str], None]) -> None:
        self.watch, self.folder, self.outlets, self.complain = watch, folder, outlets, complain
        self.after: Callable[[], None] = lambda: None
        """Called after each step."""
        self._due = [(outlet, alert) for alert in watch.state.untold for outlet in outlets]
        """What an outlet has not taken yet."""
        self._named: set[str] = set()

    def step(self) -> list[dict[str, Any]]:
        alerts = self.watch.step()
        self._due += [(outlet, alert) for alert in alerts for outlet in self.outlets]
        self._done(save, self.folder, self.watch.state, durable=bool(alerts))
        self.send()
        self._done(self.after)
        return alerts

    def send(self) -> None:
        """Send what is due. The state has it until it is sent: a process killed here sends it again when it restarts."""
        self._due = [(outlet, alert) for outlet, alert in self._due if not self._done(outlet, alert)][-MOST_LATE:]
        unsent = list({alert["id"]: alert for _, alert in self._due}.values())
        if unsent != self.watch.state.untold:
            self.watch.state.untold = unsent
            self._done(save, self.folder, self.watch.state, durable=True)

    def _done(self, act: Callable[..., object], *given: Any, **more: Any) -> bool:
        """Do something that may meet a full disk; say once which, and return whether it was done."""
        try:
            act(*given, **more)
        except OSError as error:
            why = UNWRITABLE.say(path=str(error.filename or self.folder), why=error.strerror or str(error))
            if (text := why.render(self.watch.lang)) not in self._named:
                self._named.add(text)
                self.complain(text)
            return False
        return True


def forever(sender: Sender, show: Callable[[list[dict[str, Any]]], None], every: float, *, once: bool = False) -> None:
    """Step every `every` seconds until the process is stopped; with `once` until everything that is there was read."""
    sender.send()  # alerts that a killed process did not send
    for step in itertools.count(1):
        began = time.monotonic()
        show(sender.step())
        behind = sender.watch.figures.behind
        if once and (not behind or step >= AT_ONCE):
            return
        if not behind:
            time.sleep(max(0.0, every - (time.monotonic() - began)))


# --- what it prints ---------------------------------------------------------------------------------------------------

VIEW: Final = labels("watch")["view"]
NOT_READ: Final = labels("case")["unreadable"]["not_read"]
PRINT_EVERY: Final = 10.0
"""Seconds between two lines of figures."""
COMMONEST: Final = 8
"""How many stages of records and signs a line counts."""


def alert_line(alert: dict[str, Any], lang: Lang) -> str:
    places = [f"{ref['file']}:{ref.get('line', ref.get('physical_offset'))}" for ref in alert["evidence"]]
    values = {name: alert[name] for name in ("severity", "cause", "summary")}
    return VIEW["alert"].say(time=alert["time"][11:19], where=" ".join(places), **values).render(lang)


def line(watch: Watch, lang: Lang) -> str:
    """Return a line of figures: stages of records and signs by their own names, then what the watch itself did."""
    figures = watch.figures
    seen = figures.stages + Counter({name: n for name, n in figures.signs.items() if not name.startswith(STAGE)})
    counts = {
        "read": figures.read >> 20,
        "unread": len(figures.unread),
        "skipped": sum(place.skipped for place in watch.state.places.values()),
        "open": len(watch.state.episodes.open),
    }
    parts = [f"{name} {n:,}" for name, n in seen.most_common(COMMONEST)]
    parts += [f"{VIEW[name].in_(lang)} {n:,}" for name, n in counts.items() if n or name == "open"]
    return time.strftime("%H:%M:%S ", time.gmtime(watch.clock())) + " · ".join(parts)


def showing(watch: Watch, lang: Lang) -> Callable[[list[dict[str, Any]]], None]:
    """Return what prints, after each step, files that cannot be read (once), its alerts, and every few seconds a line."""
    printed, named = -PRINT_EVERY, set[str]()

    def show(alerts: list[dict[str, Any]]) -> None:
        nonlocal printed
        unread = {name: why for name, why in watch.figures.unread.items() if name not in named}
        named.update(unread)
        texts = [NOT_READ.say(file=name, why=why.say(lang)).render(lang) for name, why in unread.items()]
        texts += [alert_line(alert, lang) for alert in alerts]
        if watch.clock() - printed >= PRINT_EVERY:
            printed = watch.clock()
            texts.append(line(watch, lang))
        for text in texts:
            click.echo(printable(text), err=True)

    return show
