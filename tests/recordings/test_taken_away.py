"""With one kind of evidence taken away, or with ten lines alone, less is said, never something else."""

import fnmatch
import re

import pytest
import recorded
from expected import examine
from table import rows_of

import kit
from kit import causes

KINDS = rows_of(__file__, "kinds")
RECORDINGS = rows_of(__file__, "recordings")
LESS = {(name, kind): words for name, kind, words in rows_of(__file__, "less")}
"""Where the rest does not decide: what has to be asked for. Everywhere else two other kinds of evidence say the same."""
MOVING = {"lag", "lag_per_queue", "growth_per_second", "messages_behind"}
"""Figures of the last look: with less evidence that is an earlier one."""


def taken(name):
    """Each kind of evidence that a recording has."""
    with recorded.opened(name) as tar:
        shown = [f"/{member.name.removeprefix('evidence/')}" for member in tar if member.isfile()]
    return [(name, kind) for kind, patterns in KINDS.items() if any(fits(path, patterns) for path in shown)]


def fits(path, patterns):
    return any(fnmatch.fnmatch(path, pattern) for pattern in patterns)


def asked(case):
    """Ask every root cause."""
    roots = [cause.slug for cause in causes.discover() if cause.kind == "root_cause"]
    return {slug: examine(case.facts, slug) for slug in roots}


def confirmed(found):
    return {slug for slug, one in found.items() if one.verdict == "confirmed"}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind"), [each for name in RECORDINGS for each in taken(name)])
def test_less_evidence_says_less(name, kind, tmp_path):
    label = recorded.label(name)
    (cause,) = label["root_causes"]
    whole = asked(recorded.case(name))[cause]
    evidence = recorded.unpack(name, tmp_path)
    for path in list(evidence.rglob("*")):
        if path.is_file() and fits(f"/{path.relative_to(evidence)}", KINDS[kind]):
            path.unlink()
    found = asked(kit.open_case(evidence, tmp_path / "workspace"))
    assert confirmed(found) <= {cause, *label.get("also_allowed", ())}
    mine = found[cause]
    wanted = LESS.get((name, kind))
    assert mine.verdict == ("confirmed" if wanted is None else "suspected"), mine.steps
    assert wanted is None or any(wanted in f"{missing.artefact.render()} {missing.command}" for missing in mine.missing)
    for figure, value in mine.figures.items():
        if figure not in MOVING:
            agrees(value, whole.figures[figure])


def agrees(less, whole):
    """Assert that a figure is what all the evidence says, or is not known, in each of its parts."""
    if isinstance(less, dict) and isinstance(whole, dict):
        for key, value in less.items():
            agrees(value, whole[key])
    else:
        assert less is None or less == whole


LOGS = rows_of(__file__, "logs")
OUTPUTS = rows_of(__file__, "outputs")


def ten_lines(name, member, words=""):
    """The first ten lines of these files that have these words; of several files as many of each."""
    files = [text.decode("utf-8", "replace") for path, text in sorted(recorded.files(name).items()) if re.search(member, path)]  # fmt: skip
    fit = [[line for line in text.splitlines() if line.strip() and re.search(words, line)] for text in files]
    return [line for lines in fit for line in lines[: 10 // len(fit)]]


@pytest.mark.recordings
@pytest.mark.parametrize(
    ("name", "member", "words"), [*LOGS, *((name, f"mqadmin/{file}", "") for name, file in OUTPUTS)]
)
def test_ten_lines_still_name_it(name, member, words, tmp_path):
    lines = ten_lines(name, member, words)
    assert lines
    (tmp_path / "paste.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = asked(kit.open_case(tmp_path / "paste.txt", tmp_path / "workspace"))
    (cause,) = recorded.label(name)["root_causes"]
    assert found[cause].verdict in ("suspected", "confirmed"), found[cause].steps
    assert confirmed(found) <= {cause}
    assert found[cause].verdict == "confirmed" or found[cause].missing


@pytest.mark.recordings
def test_of_a_failed_lookup_the_error_alone_tells_that_it_took_a_producer_for_a_broker(tmp_path):
    evidence = recorded.unpack("message-identity", tmp_path)
    output = evidence / "broker" / "mqadmin" / "queryMsgById-2.txt"
    output.write_text(output.read_text(encoding="utf-8").partition("\n")[2], encoding="utf-8")
    found = examine(kit.open_case(evidence, tmp_path / "workspace").facts, "message-identity")
    assert found.figures["wrong_space_lookups"] == 1
