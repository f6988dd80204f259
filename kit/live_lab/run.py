"""One run of a scenario: start everything, play the scenario, stop it, and arrange its files as an evidence folder."""

import contextlib
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import attrs

from kit.evidence import disk
from kit.live_lab import cluster, jars
from kit.live_lab.jars import ERRORS, LabError
from kit.live_lab.processes import Host, Processes, handling, pause
from kit.live_lab.scenario import Scenario, Settings
from kit.live_lab.watch import Probe, Reading
from kit.rocketmq.versions import Version

EVIDENCE: Final = "evidence"
RUN: Final = "run"
SNAPSHOTS: Final = "snapshots"
ABOUT: Final = "lab.json"
WHOLE: Final = 180.0
"""Hard limit of a run in seconds, from the first process to the last: then the processes end by themselves."""
STEP: Final = 0.5
CRASHED: Final = 137
GROWING: Final = 40.0
"""Seconds for an incident to grow after the applications are done."""
STORED: Final = 400 << 20
"""Bytes of the store on disk at which a scenario is over in any case."""
BREATH: Final = 0.15
"""Seconds between two pauses of a series."""
Watcher = Callable[[str, Reading], None]
"""Called about twice a second with the phase (`traffic`, `settling`) and a reading."""


@attrs.frozen
class Done:
    """The result of a run. `over`: why it ended (`settled`, `half`, `errors`, `store`, `deadline`); `seconds`."""

    broker: Version
    client: Version
    evidence: Path
    over: str
    seconds: float


def run(
    scenario: Scenario, out: Path, broker: str | None = None, client: str | None = None, watch: Watcher | None = None
) -> Done:
    """Run a scenario into the new folder `out` and return where its evidence is.

    Raise `LabError` if it cannot run here, `ValueError` for an invalid release. Whatever happens, no process is left.
    """
    if out.is_symlink() or (out.exists() and (not out.is_dir() or any(out.iterdir()))):
        raise LabError(ERRORS["not_empty"].say(path=str(out)))
    releases = Version.parse(broker or scenario.broker), Version.parse(client or scenario.client)
    java = jars.java()
    # All are fetched before anything starts, first what nothing stands in for: it says which release cannot run.
    jars.classpath("server", releases[0])
    classpath = jars.classpath("client", releases[1])
    jars.names(releases[0])
    began = time.monotonic()
    folder = out.resolve() / RUN
    folder.mkdir(parents=True)
    # A termination is handled like Ctrl-C, so that the processes are ended.
    with handling(signal.default_int_handler, signal.SIGTERM), Processes(java, WHOLE) as processes:
        topics = sorted({app["topic"] for app in scenario.apps.values()})
        lab = cluster.start(processes, releases[0], folder, scenario.config, topics)
        live = _Live(processes, lab, scenario, folder, classpath)
        over = live.go(watch)
        cluster.admin(processes, lab, _commands(lab, scenario, folder), folder / "broker" / "mqadmin")
        # As somebody copies them from hosts that run: no application's log mentions the broker's end, no broker's of
        # theirs.
        evidence = out.resolve() / EVIDENCE
        _collect_apps(scenario, folder, evidence)
        processes.end(lab.broker)
    _collect_broker(folder / "broker", evidence / "broker")
    done = Done(*releases, evidence, over, time.monotonic() - began)
    texts = {"scenario": scenario.name, "broker": str(done.broker), "client": str(done.client), "over": over}
    disk.write_json(out / ABOUT, {**texts, "seconds": round(done.seconds, 1)})
    shutil.rmtree(folder)
    return done


class _Live:
    """The applications of a running scenario, what is done to the broker, and the watch over both."""

    def __init__(
        self, processes: Processes, lab: cluster.Cluster, scenario: Scenario, folder: Path, classpath: str
    ) -> None:
        self.processes, self.lab, self.scenario = processes, lab, scenario
        self.folder, self.classpath = folder, classpath
        self.probe = Probe(lab.store, lab.logs, [folder / each for each in scenario.apps])
        self.hosts = {each: self._start(each, app) for each, app in scenario.apps.items()}
        self.over = threading.Event()
        self.looks = list(scenario.looks)

    def _start(self, folder: str, app: Settings) -> Host:
        home = self.folder / folder
        settings = {"namesrv": self.lab.namesrv, **app}
        arguments = [app["role"], *(f"{name}={value}" for name, value in settings.items())]
        properties = {"rocketmq.client.logRoot": str(home), "rocketmq.log.root": str(home)}
        return self.processes.start(folder, "LabClient", arguments, home, self.classpath, "192m", properties)

    def go(self, watch: Watcher | None) -> str:
        began = time.monotonic()
        pauses = threading.Thread(target=self._pause, args=(began,), daemon=True)
        pauses.start()
        done_at: float | None = None
        try:
            while True:
                time.sleep(STEP)
                self._keep()
                now = time.monotonic()
                if self.looks and now - began >= self.looks[0]:
                    self.looks.pop(0)
                    self._look(len(self.scenario.looks) - len(self.looks))
                done = all(host.done() for host in self.hosts.values())
                if done_at is None and done and (self.over.is_set() or not pauses.is_alive()):
                    done_at = now
                reading = self.probe.read()
                if watch is not None:
                    watch("traffic" if done_at is None else "settling", reading)
                why = self._why(reading, now - began, None if done_at is None else now - done_at)
                if why:
                    return why
        finally:
            self.over.set()
            pauses.join()

    def _why(self, reading: Reading, seconds: float, settled: float | None) -> str:
        scenario = self.scenario
        if scenario.until_half is not None and reading.half >= scenario.until_half:
            return "half"
        if scenario.until_errors is not None and reading.transaction_errors >= scenario.until_errors:
            return "errors"
        if reading.store_bytes >= STORED:
            return "store"
        if seconds >= scenario.deadline:
            return "deadline"
        # A growing incident is over when it has grown; with another release it may never begin.
        grows = bool(scenario.roots) and (scenario.until_half or scenario.until_errors) is not None
        return "settled" if settled is not None and settled >= (GROWING if grows else scenario.settle) else ""

    def _keep(self) -> None:
        """Start an application that was to crash again, for the other orders. Raise `LabError` if another ended."""
        if not self.lab.broker.running:
            raise self.lab.broker.ended()
        for folder, app in self.scenario.apps.items():
            host = self.hosts[folder]
            if host.running:
                continue
            if not ("crash" in app and host.process.returncode == CRASHED):
                raise host.ended()
            self.hosts[folder] = self._start(folder, app | {"first": str(int(app["crash"]) + 1), "crash": "-1"})

    def _look(self, number: int) -> None:
        """Collect what shows consumers: copy the offsets, and dump the threads if the JDK has jstack."""
        offsets, copies = self.lab.store / "config" / "consumerOffset.json", self.lab.home / SNAPSHOTS
        copies.mkdir(exist_ok=True)
        if offsets.exists():
            shutil.copy2(offsets, copies / f"consumerOffset-{number}.json")
        tool = shutil.which("jstack", path=str(Path(self.processes.java).resolve().parent)) or shutil.which("jstack")
        for folder in self.scenario.consumers if tool else ():
            command = [str(tool), "-l", str(self.hosts[folder].process.pid)]
            out = self.folder / folder / f"jstack-{number}.txt"
            with out.open("wb") as file, contextlib.suppress(OSError, subprocess.TimeoutExpired):
                subprocess.run(command, stdout=file, stderr=subprocess.DEVNULL, timeout=20, check=False)

    def _pause(self, began: float) -> None:
        for each in self.scenario.pauses:
            self.over.wait(max(0.0, began + each.at - time.monotonic()))
            for _ in range(each.times):
                if self.over.is_set():
                    return
                pause(self.lab.broker, each.seconds)
                self.over.wait(BREATH)


def _commands(lab: cluster.Cluster, scenario: Scenario, folder: Path) -> dict[str, Sequence[str]]:
    names, broker = ["-n", lab.namesrv], ["-b", lab.address]
    commands: dict[str, Sequence[str]] = {
        "clusterList.txt": ["clusterList", *names],
        "getBrokerConfig.txt": ["getBrokerConfig", *names, *broker],
        "brokerStatus.txt": ["brokerStatus", *names, *broker],
    }
    for command in ("consumerProgress", *(["consumerConnection"] if scenario.looks else [])):
        for name, app in scenario.consumers.items():
            commands[f"{command}-{name}.txt"] = [command, *names, "-g", app["group"]]
    if scenario.lookup is not None:
        handled = _handled(folder, scenario, scenario.lookup)
        commands["queryMsgById.txt"] = ["queryMsgById", *names, "-i", handled]
        if scenario.lookup == "uniq_key":
            topic = next(app["topic"] for app in scenario.apps.values())
            commands["queryMsgByUniqueKey.txt"] = ["queryMsgByUniqueKey", *names, "-t", topic, "-i", handled]
    return commands


def _handled(folder: Path, scenario: Scenario, kind: str) -> str:
    """Return an id of the first message a consumer recorded: column 1 is UNIQ_KEY, column 2 the offset id."""
    name, app = next(iter(scenario.consumers.items()))
    rows = (folder / name / f"{app['table']}.csv").read_text(encoding="utf-8").splitlines()[1:]
    if not rows:
        raise LabError(ERRORS["none_handled"].say(name=name))
    return rows[0].split(",")[1 if kind == "uniq_key" else 2]


def _collect_apps(scenario: Scenario, folder: Path, evidence: Path) -> None:
    for name in scenario.apps:
        target = evidence / name
        target.mkdir(parents=True)
        for path in (folder / name).rglob("*"):
            is_evidence = path.suffix in (".log", ".csv", ".gz") or path.name.startswith("jstack-")
            if path.is_file() and is_evidence and path.stat().st_size:
                shutil.copy2(path, target / path.name)


def _collect_broker(home: Path, target: Path) -> None:
    """Move the broker's files, except empty logs and lock files."""
    target.mkdir(parents=True)
    (home / cluster.LOGS).rename(target / "logs")
    for name in ("broker.conf", "store", "mqadmin", SNAPSHOTS):
        if name != SNAPSHOTS or (home / name).is_dir():
            (home / name).rename(target / name)
    (target / "store" / "lock").unlink(missing_ok=True)
    for path in [p for p in target.rglob("*.log") if not p.stat().st_size]:
        path.unlink()
