"""Episodes, kept state, outlets and the command: what is told, once, whatever happens to the process."""

import contextlib
import json
import os
import re
import shutil
import time

import pytest
from folders import put
from growing import Clock, watch, write
from processes import typed
from stores import Record, store
from table import rows_of

from kit.causes.alerts import DISK_FULL, STAGE, rules
from kit.inventory.model import Ref
from kit.rocketmq import stages
from kit.rocketmq.catalogue import EVENTS, PROBLEM
from kit.watch import loop, outlets, run
from kit.watch.episodes import CLEAR, Episodes, Sign
from kit.watch.loop import Watch
from kit.watch.outlets import capture

BEGIN = 1_795_305_600


def line(at, text):
    """Return a line of a broker's log, whose times are in GMT+8."""
    stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(at + 8 * 3600))
    return f"{stamp} WARN SendMessageThread_1 - {text}\n"


LEAK = "putMessage message topic length too long 149"
REFUSED = "sendMessageBack Exception, points"


def sign(name, at, count=1, **values):
    return Sign(name, int(at), count, Ref("broker.log", line=1), {"thread": None, "file": "broker.log", **values})


def test_every_rule_is_about_something_that_readers_find():
    known = {STAGE + value for name, value in vars(stages).items() if name.isupper() and isinstance(value, str)}
    known |= {DISK_FULL, *EVENTS}
    for rule in rules():
        if not rule.sign.startswith(PROBLEM):
            assert rule.sign in known, rule
            assert rule.step, rule
        values = {*EVENTS[rule.sign].groups} if rule.sign in EVENTS else set()
        plain = {re.sub(r"_\d+$", "", name) for name in values} | {"file", "group", "path"}
        assert {*rule.by, *filter(None, [rule.differ])} <= plain, rule
    names = [rule.name for rule in rules()]
    assert len(names) == len(set(names))


def test_an_episode_rings_once_then_at_ten_times_as_much_then_when_it_is_over():
    episodes = Episodes()
    told = []
    for second in range(400):
        found = [sign("topic-too-long", BEGIN + second)] if second < 120 else []
        told += [(second, ring["state"]) for ring in episodes.feed(found, BEGIN + second)]
    # The 1st, the 10th, the 100th; the last one was in second 119.
    assert told == [(0, "raised"), (9, "worse"), (99, "worse"), (119 + int(CLEAR), "cleared")]
    assert [ring["state"] for ring in episodes.feed([sign("topic-too-long", BEGIN + 500)], BEGIN + 500)] == ["raised"]


@pytest.mark.parametrize("row", rows_of(__file__, "episodes"), ids=lambda row: row["name"])
def test_what_rings_of_signs(row):
    """Of each look when it was, the signs since the last one (name, their seconds, how many, values), and what it told."""
    episodes = Episodes()
    for at, signs, told in row["looks"]:
        found = [sign(name, BEGIN + s, count, **(more or {})) for name, seconds, count, more in signs for s in seconds]
        rings = episodes.feed(found, BEGIN + at)
        assert [[ring["state"], ring["cause"]] for ring in rings] == [each[:2] for each in told]
        assert all(words in ring["summary"] for ring, (_, _, *said) in zip(rings, told, strict=True) for words in said)


def whole_run(folder, kill, moment):
    """Watch one small incident, killed at `kill`'s steps: before the state is kept, before or while alerts are told."""
    root, state, clock = folder / "logs", folder / "state", Clock(BEGIN)
    alerts = folder / "alerts.jsonl"
    write(root / "store.log", line(BEGIN, "started"), BEGIN)

    outlet = outlets.lines(str(alerts))

    def killed(_):
        raise KeyboardInterrupt

    def fresh(*more):
        return run.Sender(watch(root, clock, run.load(state)), state, [outlet, *more], print)

    sender = fresh()
    with run.alone(state):
        for n in range(40):
            clock.now = BEGIN + 2.0 * n
            if n in (3, 9, 10, 11):
                write(root / "store.log", line(clock.now, LEAK) * n, clock.now)
            if n == 12:
                (root / "store.log").rename(root / "store.1.log")
            if n == 14:
                shutil.copyfile(root / "store.1.log", root / "copy.log")
                (root / "store.1.log").unlink()
            if n in (6, 20):
                write(root / "rocketmq_client.log", line(clock.now, REFUSED), clock.now)
            if n not in kill:
                sender.step()
                continue
            if moment == "while telling":
                with contextlib.suppress(KeyboardInterrupt):
                    run.Sender(sender.watch, state, [outlet, killed], print).step()
            else:
                sender.watch.step()
            if moment == "before telling":
                run.save(state, sender.watch.state, durable=True)
            sender = fresh()
            sender.send()
        clock.now += 3 * CLEAR
        sender.step()
    return [json.loads(text) for text in alerts.read_text().splitlines()]


@pytest.mark.parametrize("moment", ["before keeping", "before telling", "while telling"])
@pytest.mark.seconds
def test_a_watch_that_is_killed_neither_loses_nor_doubles_alerts(tmp_path, moment):
    def story(alerts):
        # A step that is made later may see more at once; in the end it is the same number.
        ends = [a["figures"]["counts"].get("topic-too-long", 0) if a["state"] == "cleared" else 0 for a in alerts]
        return sorted((a["cause"], a["state"], a["severity"], n) for a, n in zip(alerts, ends, strict=True))

    expected = story(whole_run(tmp_path / "whole", set(), ""))
    assert [each[:2] for each in expected if each[0] == "retry-topic-too-long"] == [
        ("retry-topic-too-long", "cleared"), ("retry-topic-too-long", "raised"), ("retry-topic-too-long", "worse"),
    ]  # fmt: skip
    for n in (3, 10, 14, 39):
        folder = tmp_path / str(n)
        found = whole_run(folder, {n, n + 5}, moment)
        assert story(found) == expected, n
        assert len({alert["id"] for alert in found}) == len(found)


def test_an_alert_that_could_not_be_written_is_kept_for_the_next_process(tmp_path):
    def full(alert):
        raise OSError(28, "No space left on device")

    clock, rung, state = Clock(BEGIN), list[dict](), tmp_path / "state"
    state.mkdir()
    write(tmp_path / "logs" / "store.log", line(BEGIN, "old"), BEGIN)
    sender = run.Sender(watch(tmp_path / "logs", clock), state, [full], print)
    sender.step()
    write(tmp_path / "logs" / "store.log", line(BEGIN + 1, LEAK), BEGIN + 1)
    for _ in range(3):
        clock.now += 4
        sender.step()
    run.Sender(watch(tmp_path / "logs", clock, run.load(state)), state, [rung.append], print).send()
    assert [alert["cause"] for alert in rung] == ["retry-topic-too-long"]
    assert run.load(state).untold == []


def test_a_folder_with_foreign_files_is_refused_and_one_watch_works_in_it(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(ValueError, match=r"mine\.txt"), run.alone(tmp_path):
        pass
    state = tmp_path / "state"
    with run.alone(state), pytest.raises(ValueError, match="another command"), run.alone(state):
        pass
    said = []
    assert not run.load(state, said.append).time and said == []
    (state / run.STATE).write_text("{half")
    assert not run.load(state, said.append).time and "rmq-kit-watch.json: cannot be read" in said.pop() and said == []


def test_what_came_while_no_watch_ran_counts_at_its_own_times(tmp_path):
    """One exception an hour is no burst (10 within 120 s), however many hours are read at once; a burst among them is one."""
    clock, path = Clock(BEGIN), tmp_path / "client.log"
    route = "No route info of this topic, pay-dnoe"
    write(path, line(BEGIN, "started"), BEGIN)
    seen = watch(tmp_path, clock)
    seen.step()
    for hour in range(1, 30):
        write(path, line(BEGIN + 3600 * hour, route), BEGIN + 3600 * hour)
    clock.now = BEGIN + 3600 * 30
    seen = watch(tmp_path, clock, seen.state)
    assert seen.step() == []
    write(path, "".join(line(clock.now + n, route) for n in range(1, 20)), clock.now + 20)
    clock.now += 1800
    again = watch(tmp_path, clock, seen.state)
    assert [alert["cause"] for alert in again.step()] == ["topic-missing"]


def test_from_a_time_on_means_nothing_before_it(tmp_path):
    clock = Clock(BEGIN + 100.0)
    write(tmp_path / "store.log", line(BEGIN - 50, LEAK) + line(BEGIN + 50, LEAK), BEGIN + 50)
    for since, count in ((BEGIN, 1), (BEGIN - 100, 2)):
        seen = watch(tmp_path, clock, since=since)
        (alert,) = seen.step()
        assert alert["figures"]["counts"] == {"topic-too-long": count}


def test_alerts_are_appended_once_also_behind_half_a_line_and_on_a_disk_without_space(tmp_path, monkeypatch):
    path = tmp_path / "alerts.jsonl"
    path.write_text('{"id": "a", "time": "…"}\n{"id": "b", "ti')
    tell = outlets.lines(str(path))
    for name in ("a", "b", "c", "c", "b"):
        tell({"id": name})
    assert path.read_text() == '{"id": "a", "time": "…"}\n{"id": "b", "ti\n{"id": "b"}\n{"id": "c"}\n'
    # On a disk that fills up `write` takes what fits and raises nothing (write(2)).
    tell = outlets.lines(str(tmp_path / "full.jsonl"))
    tell({"id": "a"})
    with monkeypatch.context() as full, pytest.raises(OSError, match="No space left"):
        full.setattr(outlets.os, "write", lambda handle, data, write=os.write: write(handle, data[:5]))
        tell({"id": "b"})
    tell({"id": "b"})
    assert (tmp_path / "full.jsonl").read_text() == '{"id": "a"}\n{"id": "b"}\n'


def test_a_full_disk_is_named_and_the_others_ring_all_the_same(tmp_path, monkeypatch):
    """The disk of the state and of the alerts is full: what rings is not on it. Once there is space again, the alerts are there."""
    clock, rung, said, full = Clock(BEGIN), list[str](), list[str](), [True]
    write(tmp_path / "logs" / "store.log", line(BEGIN, "old"), BEGIN)
    seen = watch(tmp_path / "logs", clock)
    seen.step()
    to_file, save = outlets.lines(str(tmp_path / "alerts.jsonl")), run.save

    def on_full_disk(act, path):
        def acting(*given, **named):
            if full[0]:
                raise OSError(28, "No space left on device", path)
            act(*given, **named)

        return acting

    monkeypatch.setattr(run, "save", on_full_disk(save, "/state/state.json"))
    told = [on_full_disk(to_file, "/var/log/alerts.jsonl"), lambda alert: rung.append(alert["id"])]
    sender = run.Sender(seen, tmp_path, told, said.append)
    write(tmp_path / "logs" / "store.log", line(BEGIN + 1, LEAK), BEGIN + 1)
    for _ in range(3):
        clock.now += 4
        sender.step()
    assert len(rung) == 1 and not (tmp_path / "alerts.jsonl").exists()
    full_disks = ("/state/state.json", "/var/log/alerts.jsonl")
    assert said == [f"{path}: cannot write there: No space left on device" for path in full_disks]
    full[0] = False
    sender.step()
    assert [json.loads(text)["id"] for text in (tmp_path / "alerts.jsonl").read_text().splitlines()] == rung
    assert (tmp_path / "alerts.jsonl").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("broken", ["zeros in the middle", "zeros at the beginning", "an endless line"])
def test_what_is_no_line_is_passed_over_and_said(tmp_path, monkeypatch, broken):
    monkeypatch.setattr(loop, "STEP", 1 << 18)
    clock, path = Clock(BEGIN), tmp_path / "store.log"
    write(path, line(BEGIN, "old"), BEGIN)
    seen = watch(tmp_path, clock)
    seen.step()
    if broken == "zeros at the beginning":  # copied and truncated while its writer goes on at its old place
        path.write_bytes(bytes(5_000_000))
    elif broken == "zeros in the middle":
        write(path, line(BEGIN + 1, "before") + "\0" * 3_000_000, BEGIN + 1)
    else:
        write(path, "x" * 3_000_000 + "\n", BEGIN + 1)
    write(path, line(BEGIN + 2, LEAK), BEGIN + 2)
    alerts = []
    for _ in range(40):
        clock.now += 2
        alerts += seen.step()
    assert [alert["cause"] for alert in alerts] == ["retry-topic-too-long"]
    # Counted once, however many looks follow.
    assert 2_000_000 < sum(place.skipped for place in seen.state.places.values()) < path.stat().st_size


def incident(root, clock):
    """A watch that has just seen a refusal."""
    write(root / "logs" / "store.log", line(BEGIN, "old") * 3, BEGIN)
    write(root / "conf" / "broker.conf", "brokerName=broker-a\n", BEGIN)
    seen = watch(root, clock)
    seen.step()
    write(root / "logs" / "store.log", line(BEGIN + 1, LEAK), BEGIN + 1)
    clock.now += 4
    (alert,) = seen.step()
    assert (alert["cause"], alert["evidence"][0]["file"], alert["evidence"][0]["line"]) == (
        "retry-topic-too-long", "logs/store.log", 4,
    )  # fmt: skip
    return seen


def test_captures_hold_what_triage_opens_and_metrics_name_what_rings(tmp_path):
    seen = incident(tmp_path / "broker", Clock(BEGIN))
    folder = capture(seen, "alert: 1", tmp_path / "captures")
    assert (folder / "logs" / "store.log").read_text().count("\n") == 4
    assert (folder / "conf" / "broker.conf").exists()
    assert capture(seen, "alert: 1", tmp_path / "captures") is None
    outlets.write_figures(seen, tmp_path / "watch.prom")
    text = (tmp_path / "watch.prom").read_text()
    assert 'rmq_kit_watch_alert{cause="retry-topic-too-long",place="",severity="warning"} 1.0' in text
    assert 'rmq_kit_watch_signs_total{sign="topic-too-long"} 1.0' in text


def test_a_file_that_breaks_is_named_and_the_others_go_on(tmp_path, monkeypatch, capsys):
    entries = loop.new_rows

    def breaks(root, place, options):
        if "bad" in place.name:
            raise ValueError("no such thing")
        yield from entries(root, place, options)

    monkeypatch.setattr(loop, "new_rows", breaks)
    clock = Clock(BEGIN)
    for name in ("bad", "broker"):
        write(tmp_path / f"{name}.log", line(clock(), "start"), clock())
    seen = Watch([tmp_path], clock=clock)
    seen.step()
    clock.now += 5
    for name in ("bad", "broker"):
        write(tmp_path / f"{name}.log", line(clock(), "more"), clock())
        write(tmp_path / f"{name}.log", line(clock(), "and more"), clock())
    tell = run.showing(seen, "en")
    for _ in range(2):
        clock.now += 2
        tell(seen.step())
    said = capsys.readouterr().err
    assert said.count("bad.log: ") == 1 and "no such thing" in said
    assert seen.figures.entries > 0 and list(seen.figures.unread) == ["bad.log"]


def test_a_disk_that_is_nearly_full_rings_before_the_broker_refuses_each_disk_by_itself(tmp_path):
    roots = [tmp_path / name for name in ("a", "b")]
    for root in roots:
        put(root / "commitlog" / f"{0:020d}", store([Record(topic=b"orders", body=b"x")], end=bytes(4096)).data)
    free, clock = {"a": 900, "b": 151}, Clock(BEGIN)
    seen = Watch(roots, clock=clock, disk=lambda root: (1000, 0, free[root.name]))
    assert seen.step() == []
    free["b"] -= 1  # a broker refuses at 90%
    clock.now += 2
    (alert,) = seen.step()
    assert (alert["cause"], alert["severity"]) == ("disk-full", "critical")
    assert seen.figures.free == {str(roots[0]): 900, str(roots[1]): 150}


@pytest.mark.seconds
def test_the_command_for_a_cron_ends_with_4_while_something_rings(tmp_path):
    root, state = tmp_path / "logs", tmp_path / "state"
    now = time.time()
    write(root / "store.log", line(now - 60, LEAK), now - 60)
    # As a process of its own: it lowers its priority and leaves one core to Arrow.
    command = ("-m", "kit", "watch", root, "--once", "--state", state, "--alerts", "-")
    first = typed(*command, cwd=tmp_path)
    assert (first.returncode, first.stdout) == (0, ""), first.stderr
    write(root / "store.log", line(now - 10, LEAK), now - 10)
    before = sorted((p.name, p.stat().st_mtime_ns) for p in root.iterdir())
    second = typed(*command, cwd=tmp_path)
    assert second.returncode == 4, second.stderr
    (alert,) = [json.loads(text) for text in second.stdout.splitlines()]
    assert set(alert) >= {"time", "cause", "severity", "summary", "evidence", "figures"}
    assert alert["evidence"][0]["line"] == 2
    assert sorted((p.name, p.stat().st_mtime_ns) for p in root.iterdir()) == before
