"""One name server and one broker on loopback, small files, short intervals, all below one folder."""

import contextlib
import json
import shutil
import socket
import struct
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs

from kit import data
from kit.evidence import disk
from kit.live_lab import jars
from kit.live_lab.jars import ERRORS
from kit.live_lab.processes import Host, LabError, Processes, free_port, wait_for
from kit.rocketmq.versions import Version

LOGS: Final = Path("logs", "rocketmqlogs")
OWN_LAYOUT: Final = Version.parse("5.1.0")
"""From this release on the jars contain their logging configuration."""
GIVEN: Final = data.read("live_lab/broker.yaml", dict[str, dict[str, Any]])
SETTINGS: Final[dict[str, str]] = GIVEN["settings"]
OLD_SPELLING: Final = Version.parse("4.5.2")
BATCHED_OPS: Final = Version.parse("5.1.0")
"""From this release on op records are up to six seconds late: a shorter time-out would check what has ended."""
BATCHED_TIMEOUT: Final = "8000"
ROUTES_WITHIN: Final = 60


@attrs.frozen
class Cluster:
    """A running name server and broker. `home`: the broker's user.home; `tools`: the class path of mqadmin."""

    release: Version
    namesrv: str
    address: str
    broker: Host
    home: Path
    tools: str

    @property
    def logs(self) -> Path:
        return self.home / LOGS

    @property
    def store(self) -> Path:
        return self.home / "store"


def settings(release: Version, own: Mapping[str, str]) -> dict[str, str]:
    values = {**SETTINGS, **own}
    if release < OLD_SPELLING:
        values["mapedFileSizeCommitLog"] = values.pop("mappedFileSizeCommitLog")
        values["mapedFileSizeConsumeQueue"] = values.pop("mappedFileSizeConsumeQueue")
    if release >= BATCHED_OPS:
        values["transactionTimeOut"] = own.get("transactionTimeOut", BATCHED_TIMEOUT)
        # Older releases listen on every interface regardless of settings.
        values["bindAddress"] = "127.0.0.1"
    return values


def _has_route(names: int, topic: str) -> bool:
    """Ask the name server: a frame is its length, the header's, the header as JSON (RemotingCommand)."""
    command = json.dumps({**GIVEN["route"], "extFields": {"topic": topic}}).encode()
    try:
        with socket.create_connection(("127.0.0.1", names), timeout=2) as asked, asked.makefile("rb") as answers:
            asked.sendall(struct.pack(">ii", 4 + len(command), len(command)) + command)
            _, length = struct.unpack(">ii", answers.read(8))
            return bool(json.loads(answers.read(length & 0xFFFFFF))["code"] == 0)
    except (OSError, ValueError, KeyError, struct.error):
        return False


def start(processes: Processes, release: Version, run: Path, own: Mapping[str, str], topics: Sequence[str]) -> Cluster:
    """Start both and wait until they answer and route each topic. Raise `LabError` if one does not."""
    classpath, tools = jars.classpath("server", release), jars.names(release)
    names = free_port()
    namesrv_home = _home(run / "namesrv", release)
    conf = namesrv_home / "namesrv.conf"
    disk.write_text(
        conf, f"listenPort={names}\nkvConfigPath={namesrv_home / 'kvConfig.json'}\nconfigStorePath={conf}\n"
    )
    main, logging = "org.apache.rocketmq.namesrv.NamesrvStartup", _logging(namesrv_home, release, "namesrv")
    namesrv = processes.start("namesrv", main, ["-c", str(conf)], namesrv_home, tools, "128m", logging)

    port = free_port((-2, 0, 1))
    home = _home(run / "broker", release)
    store = home / "store"
    places = {
        "namesrvAddr": f"127.0.0.1:{names}", "brokerIP1": "127.0.0.1", "listenPort": str(port),
        "haListenPort": str(port + 1), "storePathRootDir": str(store), "storePathCommitLog": str(store / "commitlog"),
    }  # fmt: skip
    broker_conf = home / "broker.conf"
    disk.write_text(broker_conf, "".join(f"{k}={v}\n" for k, v in {**places, **settings(release, own)}.items()))
    _known(store, topics)
    # A broker that finds no name server retries only after half a minute.
    wait_for(namesrv, names)
    main, logging = "org.apache.rocketmq.broker.BrokerStartup", _logging(home, release, "broker")
    broker = processes.start("broker", main, ["-c", str(broker_conf)], home, classpath, "512m", logging)
    wait_for(broker, port)
    # Broker 5.3.3 registers its topics ten seconds after it starts to listen.
    until = time.monotonic() + ROUTES_WITHIN
    while not all(_has_route(names, topic) for topic in topics):
        if not broker.running or time.monotonic() > until:
            raise LabError(ERRORS["no_route"].say(topics=list(topics), seconds=ROUTES_WITHIN, last=broker.last_words()))
        time.sleep(0.2)
    return Cluster(release, f"127.0.0.1:{names}", f"127.0.0.1:{port}", broker, home, tools)


def admin(processes: Processes, cluster: Cluster, commands: Mapping[str, Sequence[str]], out: Path) -> None:
    """Run mqadmin commands ({output file: arguments}) on the broker's host, one JVM for all."""
    out.mkdir(parents=True, exist_ok=True)
    home = cluster.home
    listed = home / "mqadmin.commands"
    lines = ("\t".join([str(out / name), *command]) for name, command in commands.items())
    disk.write_text(listed, "".join(f"{line}\n" for line in lines))
    properties = {**_logging(home, cluster.release, "tools"), "rocketmq.client.logRoot": str(cluster.logs)}
    host = processes.start("mqadmin", "LabAdmin", [str(listed)], home, cluster.tools, "128m", properties)
    with contextlib.suppress(subprocess.TimeoutExpired):
        host.process.wait(40)
    processes.end(host)


def _home(home: Path, release: Version) -> Path:
    """Create a host's home with the logging configuration that distributions have next to the jars."""
    (home / LOGS).mkdir(parents=True)
    if release < OWN_LAYOUT:
        shutil.copytree(Path(__file__).parent / "conf", home / "conf")
    return home


def _logging(home: Path, release: Version, which: str) -> dict[str, str]:
    """Return the properties that set the log folder and limit each log to 128 MB."""
    # A broker refuses to write to a nearly full disk, however little it needs.
    disk = {"rocketmq.broker.diskSpaceWarningLevelRatio": "0.99", "rocketmq.broker.diskSpaceCleanForciblyRatio": "0.98"}
    places = {"rocketmq.home.dir": str(home), "rocketmq.client.logRoot": str(home / LOGS)}
    loggers = {**disk, **places, "lab.log.size": "32MB", "lab.log.files": "3"}
    return loggers if release < OWN_LAYOUT else {**loggers, "rmq.logback.configurationFile": f"rmq.{which}.logback.xml"}


def _known(store: Path, topics: Sequence[str]) -> None:
    """Let the broker start with the applications' topics, like one that has run before."""
    table = {name: {**GIVEN["topic"], "topicName": name} for name in topics}
    version = {"counter": len(table), "timestamp": 0}
    disk.write_json(store / "config" / "topics.json", {"dataVersion": version, "topicConfigTable": table})
