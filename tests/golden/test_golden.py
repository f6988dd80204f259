"""Every recording finds what it found (verdicts, windows, figures, steps, the places that are quoted) and what its label says.

`python -m tests.golden NAME` prints the same differences; `--update` keeps what is found now, after it was read.
"""

import golden
import plain_reader
import pytest
import recorded
from processes import ROOT, typed
from table import rows_of

import kit

LATER = rows_of(__file__, "later")
"""What takes long, and what is like another: CI asks for them with `make recordings`."""
ROOTS = {cause for name in recorded.EVERY for cause in recorded.label(name)["root_causes"]}


EVERY = [pytest.param(name, marks=pytest.mark.recordings) if name in LATER else name for name in recorded.EVERY]


def test_every_recording_has_its_findings():
    assert {path.stem for path in golden.KEPT.glob("*.json")} == set(golden.NAMES)


@pytest.mark.seconds
@pytest.mark.parametrize("name", EVERY)
def test_a_recording_finds_what_it_found_and_what_its_label_says(name):
    """Exactly its root causes, at least its neighbours, and references that resolve."""
    found, label = kit.triage(recorded.case(name)), recorded.label(name)
    _same(golden.load(name), golden.digest(found))
    verdicts = {f["cause"]: f["verdict"] for f in found["findings"]}
    assert set(verdicts) >= ROOTS and "failed" not in verdicts.values()
    roots = set(label["root_causes"])
    assert roots <= set(found["root_causes"]) <= roots | set(label.get("also_allowed", ())), verdicts
    confirmed = {cause for cause, verdict in verdicts.items() if verdict == "confirmed"}
    assert set(label.get("neighbours", ())) <= confirmed, confirmed
    if not label["root_causes"] and not label.get("neighbours"):
        # Where the master was killed, the sender's own ledger has sends that timed out.
        failed = label.get("truth", {}).get("other_outcomes", {})
        timed_out = {"client-timeout"} if "RemotingTooMuchRequestException" in failed else set()
        assert confirmed == timed_out, "a healthy system has nothing confirmed"
    assert plain_reader.check(found, recorded.whole(name)) or not confirmed
    for finding in found["findings"]:
        if finding["verdict"] == "insufficient_evidence":
            assert finding["missing"], finding["cause"]


@pytest.mark.recordings
def test_pastes_show_what_they_showed(tmp_path):
    _same(golden.load(golden.PASTES), golden.pasted(tmp_path))


def _same(expected, actual):
    differ = golden.differences(expected, actual)
    assert not differ, f"{len(differ)} differences:\n" + "\n".join(differ)


FOUND = rows_of(__file__, "found")


@pytest.mark.parametrize(("changed", "says"), rows_of(__file__, "a_difference_is_a_line_of_its_cause"))
def test_a_difference_is_a_line_of_its_cause(changed, says):
    kept, now = (golden.digest({"root_causes": [], "findings": [FOUND | each]}) for each in ({}, changed))
    was, is_ = golden.differences(kept, now)
    assert was.startswith("busy: - ") and is_.startswith("busy: + ") and says in is_
    assert golden.differences(kept, kept) == []


@pytest.mark.parametrize(("where", "counted"), rows_of(__file__, "figures").items())
def test_the_kept_figures_are_counted_without_the_kit(where, counted):
    name, cause = where.split("/")
    figures = golden.load(name)["findings"][cause]["figures"]
    assert {figure: figures[figure] for figure in counted} == counted


LONG = 1800
"""Seconds that Apache Spark may take on a busy machine."""
WHOLE = pytest.param([*rows_of(__file__, "on_spark"), "--spark"], marks=pytest.mark.recordings)


@pytest.mark.apache
@pytest.mark.parametrize("asked", [["message-identity", "--spark"], ["message-identity"], WHOLE])
def test_the_same_findings_where_apache_spark_is_installed(asked):
    # A process in which the embedded engine ran cannot start a classic session.
    done = typed("-m", "tests.golden", *asked, cwd=ROOT, timeout=LONG)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-3000:]


@pytest.mark.apache
def test_every_table_makes_the_same_of_a_few_rows():
    done = typed(
        "-m", "pytest", "-q", "-x", "tests/tables", cwd=ROOT, timeout=LONG, env={"RMQ_KIT_TEST_MASTER": "local[2]"}
    )
    assert done.returncode == 0, done.stdout[-6000:]
