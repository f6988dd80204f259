"""The collecting script, run by a real POSIX shell on a made-up broker home."""

import datetime as dt
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
from folders import put, state
from stores import Record, store
from table import rows_of

from kit.collection.collect import script

EVERY = (["dash"], ["bash", "--posix"], ["busybox", "sh"], ["sh"])
SHELLS = [[found, *rest] for tool, *rest in EVERY if (found := shutil.which(tool))]
HOUR = 3600
START = dt.datetime(2026, 11, 20, 0, 0, tzinfo=dt.UTC)


def touch(path, hour, content=b"x"):
    put(path, content)
    when = START.timestamp() + hour * HOUR
    os.utime(path, (when, when))
    return path


def record(hour, *, born_v6=False, dledger=False):
    """A record stored at that hour."""
    at = int((START.timestamp() + hour * HOUR) * 1000)
    return store([Record(born_host=bytes(16 if born_v6 else 4), born=at, stored=at)], dledger=dledger).data


@pytest.fixture
def home(tmp_path):
    """A broker's home: six commitlog files, file n begins at hour 2n, all with one modification time."""
    home = tmp_path / "home of broker"
    store = home / "data disk" / "store"
    for n in range(6):
        touch(store / "commitlog" / f"{n * 1_048_576:020d}", 12, record(2 * n, born_v6=n % 2 == 1) + bytes([n]) * 4096)
    for topic in ("orders", "other", "RMQ_SYS_TRANS_HALF_TOPIC", "%RETRY%points"):
        touch(store / "consumequeue" / topic / "0" / "00000000000000000000", 12)
    touch(store / "config" / "topics.json", 12, b"{}")
    touch(store / "config" / "users_acl.json", 12, b"secret")
    touch(store / "checkpoint", 12)
    touch(store / "index" / "20261120000000000", 12)
    logs = home / "logs" / "rocketmqlogs"
    touch(logs / "broker.log", 12)
    touch(logs / "otherdays" / "store.1.log.gz", 9)
    touch(logs / "otherdays" / "store.2.log.gz", 1)
    conf = f"storePathRootDir={store}\nbrokerName=a\nnamesrvAddr=10.0.0.1:9876\nsecretKey=hunter2\nlistenPort=10911\n"
    touch(home / "broker.conf", 12, conf.encode())
    return home


def run(home, path, text, *args, shell=SHELLS[0]):
    env = {"HOME": str(home), "PATH": path, "TMPDIR": str(home.parent)}
    return subprocess.run(
        [*shell, "-s", "--", *args], input=text, capture_output=True, text=True, env=env, timeout=600, check=False
    )


@pytest.fixture
def listed(home, quick):
    """The script with `--list` beside the broker's configuration: what it printed."""
    return lambda text, *args: run(home, quick, text, "--conf", str(home / "broker.conf"), "--list", *args).stdout


@pytest.fixture
def collected(home, quick, tmp_path):
    """What the script packed, by its path in the archive; without arguments beside the broker's configuration."""

    def files(text, *args, shell=SHELLS[0]):
        out = tmp_path / "out"
        out.mkdir()
        args = args or ("--conf", str(home / "broker.conf"))
        done = run(home, quick, text, *args, "--out", str(out), shell=shell)
        assert done.returncode == 0, done.stderr
        (archive,) = out.glob("rocketmq-evidence-*.tar.gz")
        with tarfile.open(archive) as tar:
            return {m.name.removeprefix("evidence/"): tar.extractfile(m).read() for m in tar if m.isfile()}

    return files


def program(folder, name, text):
    """Put a program on the PATH in place of the one of that name."""
    path = Path(folder) / name
    path.unlink(missing_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


DISK = "printf 'Filesystem 1024-blocks Used Available Capacity Mounted\\n/dev/x 9 9 {} 1%% /\\n'"


@pytest.fixture
def quick(tmp_path):
    """A PATH with what every host has; commands that watch for ten seconds are left out. No broker runs, the disk has room."""
    tools = "awk cat chmod cp date dirname du find grep gzip hostname ln ls mkdir mktemp mv nice od rm sed sh sha256sum sort tail tar touch tr uname"
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in tools.split():
        if found := shutil.which(tool):
            (folder / tool).symlink_to(found)
    program(folder, "ps", "")
    program(folder, "df", DISK.format(99_999_990))
    return str(folder)


@pytest.mark.parametrize("shell", SHELLS, ids=lambda shell: Path(shell[0]).name)
def test_only_files_of_the_window_and_nothing_changed(home, collected, tmp_path, shell):
    before = state(home)
    text = script(START + dt.timedelta(hours=5), START + dt.timedelta(hours=7), "orders")
    assert subprocess.run([*shell, "-n"], input=text, text=True, capture_output=True, check=False).stderr == ""
    got = collected(text, shell=shell)
    # Hours 5 to 7 lie in the files that span 4–6 and 6–8.
    assert {name[-20:] for name in got if "/commitlog/" in name} == {f"{n * 1_048_576:020d}" for n in (2, 3)}
    assert got[f"broker/store/commitlog/{2 * 1_048_576:020d}"] == record(4) + b"\2" * 4096
    queues = {name.split("/")[3] for name in got if "/consumequeue/" in name}
    assert queues == {"orders", "RMQ_SYS_TRANS_HALF_TOPIC", "%RETRY%points"}
    kept = ("logs/broker.log", "logs/otherdays/store.1.log.gz", "store/config/topics.json", "store/checkpoint")
    assert {f"broker/{name}" for name in kept} <= set(got)
    assert not any("store.2.log" in name or "acl" in name or "/index/" in name for name in got)
    assert b"hunter2" not in b"".join(got.values())
    assert b"brokerName=a" in got["broker/broker.conf"]
    assert b"LEFT OUT (may hold secrets)" in got["collected.txt"]
    assert state(home) == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bin", "home of broker", "out"]


def test_without_a_window_everything_is_taken(home, collected):
    got = collected(script(), "--conf", str(home / "broker.conf"), "--index")
    assert sum("/commitlog/" in name for name in got) == 6
    assert {"broker/store/index/20261120000000000", f"broker/store/consumequeue/other/0/{0:020}"} <= set(got)


def test_list_shows_sizes_all_folders_of_a_store_and_one_named_by_hand(listed, tmp_path, home):
    shown = listed(script(lang="zh"))
    assert "KiB  broker/store/commitlog/00000000000000000000" in shown and "压缩前合计" in shown
    assert not list(tmp_path.rglob("*.tar.gz"))
    store = home / "data disk" / "store"
    for path in (store / "dledger-n0/data" / f"{0:020}", store / "dledger-n0/currterm", home / "disk2" / f"{1:020}"):
        touch(path, 3)
    conf = home / "broker.conf"
    conf.write_text(conf.read_text() + f"storePathCommitLog={store}/commitlog,{home}/disk2\r\n")
    shown = listed(script())
    for name in ("dledger-n0/data/00000000000000000000", "dledger-n0/currterm", "commitlog/00000000000000000001"):
        assert f"broker/store/{name}" in shown
    put(home / "broker.conf", "storePathRootDir=/somewhere/else\nstorePathCommitLog=/somewhere/else/commitlog\n")
    shown = listed(script(), "--store", str(home / "data disk" / "store"))
    assert shown.count("broker/store/commitlog/0") == 6 and "NO STORE /somewhere/else" in listed(script())


def test_files_without_a_readable_time_are_taken_along(home, listed):
    store = home / "data disk" / "store"
    touch(store / "commitlog" / f"{3 * 1_048_576:020d}", 12, b"\xff" * 200)  # damaged
    touch(store / "commitlog" / f"{6 * 1_048_576:020d}", 12, bytes(200))  # pre-allocated
    touch(store / "dledger-n0" / "data" / "00000000000000000000", 12, record(1, dledger=True))
    touch(store / "dledger-n0" / "data" / "00000000000001048576", 12, record(4, dledger=True))
    lines = listed(script(START + dt.timedelta(hours=9), START + dt.timedelta(hours=9))).splitlines()
    # Hour 9 is in the file that spans 8 to 10; the damaged one may reach from 6 to 8 only, the empty one begins nowhere.
    assert {int(line.rsplit("/", 1)[1]) // 1_048_576 for line in lines if "store/commitlog/" in line} == {4, 6}
    assert [line.rsplit("/", 1)[1] for line in lines if "/data/" in line] == ["00000000000001048576"]


def test_no_archive_inside_the_store_or_without_space(home, quick, tmp_path):
    inside = home / "data disk" / "store" / "out"
    inside.mkdir()
    for out, free, why in ((inside, 99_999_990, "inside the store"), (tmp_path, 1000, "not enough free space")):
        program(quick, "df", DISK.format(free))
        done = run(home, quick, script(), "--conf", str(home / "broker.conf"), "--out", str(out))
        assert done.returncode == 1 and why in done.stderr
    assert not list(tmp_path.rglob("*.tar.gz"))


def test_a_client_host(home, collected):
    shutil.rmtree(home)
    touch(home / "logs" / "rocketmqlogs" / "rocketmq_client.log", 5)
    touch(home / "service.log", 5)
    touch(home / "service.log.1", 1)
    got = collected(script(START + dt.timedelta(hours=4)), "--app-log", str(home / "service.log"))
    service = f"app/{str(home / 'service.log')[1:].replace('/', '_')}"
    assert "client/rocketmq_client.log" in got and [name for name in got if name.startswith("app/")] == [service]


def test_mqadmin_output_is_kept_with_its_command(home, quick, collected):
    program(quick, "mqadmin", 'echo "asked: $*"\necho "$JAVA_OPT"')
    topic = "it's; touch $HOME/pwned `id` $(id)"
    got = collected(script(topic=topic))
    config = got["broker/mqadmin/getBrokerConfig.txt"].decode()
    assert config.splitlines()[0].endswith("mqadmin getBrokerConfig -n 10.0.0.1:9876 -b 127.0.0.1:10911")
    assert "-Duser.home=" in config
    status = got[f"broker/mqadmin/topicStatus-{topic.replace('/', '_')}.txt"].decode()
    assert f"asked: topicStatus -n 10.0.0.1:9876 -t {topic}" in status
    assert not (home / "pwned").exists()


def test_running_brokers_are_found(tmp_path, quick):
    home = tmp_path / "rocketmq"
    for name in ("a", "b"):
        touch(home / f"{name}.conf", 1, f"storePathRootDir = {home}/store-{name}\n".encode())
        touch(home / f"store-{name}" / "commitlog" / "00000000000000000000", 1)
    command = "java -server org.apache.rocketmq.broker.BrokerStartup -c"
    lines = f"'17 {command} {home}/a.conf' ' 18 {command} {home}/b.conf -p' '19 sh'"
    program(quick, "ps", f"[ \"$1\" = -eo ] && printf '%s\\n' {lines}")
    done = run(home, quick, script(), "--list")
    assert done.returncode == 0, done.stderr
    for number, name in (("", "a"), ("-2", "b")):
        for file in (f"{name}.conf", "store/commitlog/00000000000000000000"):
            assert f"KiB  broker{number}/{file}\n" in done.stdout


def test_wrong_options_and_times_are_refused_before_anything_is_printed(home, quick):
    for wrong in (["--nonsense"], ["--max-gb", "many"], ["--out"]):
        assert run(home, quick, script(), *wrong).returncode == 2
    assert "--list" in run(home, quick, script(), "--help").stdout
    with pytest.raises(ValueError, match="not an ISO time"):
        script(since="yesterday")
    with pytest.raises(ValueError, match="after --until"):
        script("2026-11-20T12:00:00", "2026-11-20T11:00:00")
    assert "SINCE='2026-11-20 06:00:00'" in script("2026-11-20T14:00:00+08:00")


SETTINGS = rows_of(__file__, "settings")
"""Files of settings, their content with secrets, and what stays of it."""


def test_secrets_are_masked_in_every_kind_of_settings(home, collected):
    config = home / "data disk" / "store" / "config"
    for name, (content, _) in SETTINGS.items():
        touch(config / name, 12, content.encode())
    clean = touch(config / "consumerOffset.json", 12, b'{"offsetTable":{"a@b":{0:7}}}').read_bytes()
    before = state(home)
    got = collected(script())
    for name, (_, kept) in SETTINGS.items():
        assert kept.encode() in got[f"broker/store/config/{name}"], got[f"broker/store/config/{name}"]
    assert got["broker/store/config/consumerOffset.json"] == clean
    assert not [secret for secret in (b"canary", b"12340009", b"hunter2") if secret in b"".join(got.values())]
    assert got["collected.txt"].count(b"SECRETS MASKED") == len(SETTINGS)
    assert state(home) == before


def test_links_out_of_the_folders_are_not_followed(home, quick, collected, tmp_path):
    store, logs = home / "data disk" / "store", home / "logs" / "rocketmqlogs"
    elsewhere = touch(tmp_path / "elsewhere" / "private.txt", 12, b"canary")
    for link in (logs / "link.log", store / "config/link.json", store / "commitlog" / f"{9 * 1_048_576:020d}"):
        link.symlink_to(elsewhere)
    for link in (logs / "folder", store / "consumequeue/linked"):
        link.symlink_to(elsewhere.parent)
    (logs / "loop").symlink_to(logs)
    got = collected(script())
    assert b"canary" not in b"".join(got.values()) and not [name for name in got if "link" in name or "loop" in name]
    assert got["collected.txt"].count(b"LINK NOT FOLLOWED") == 6
    # What the administrator names, or the store itself, may be a link.
    (tmp_path / "store").symlink_to(store)
    shown = run(home, quick, script(), "--store", str(tmp_path / "store"), "--list").stdout
    assert "broker/store/commitlog/00000000000000000000" in shown


@pytest.mark.parametrize(("limit", "left_out"), [("0", 6), ("1", 0)])
def test_the_commitlog_counts_what_its_files_hold_and_is_left_out_beyond_the_limit(home, listed, limit, left_out):
    os.truncate(home / "data disk" / "store" / "commitlog" / f"{5 * 1_048_576:020d}", 2 << 30)
    shown = listed(script(), "--max-gb", limit)
    assert shown.count(f"LEFT OUT (--max-gb {limit})") == left_out
    assert shown.count("KiB  broker/store/commitlog/") == 6 - left_out
