"""A cause that another explains is named as its consequence and comes after it."""

import datetime as dt

import pytest
from table import rows_of

from kit import causes
from kit.causes import triage
from kit.causes.findings import Finding, Step
from kit.causes.texts import Cause
from kit.i18n import T
from kit.inventory.references import Ref
from kit.rocketmq.catalogue import PROBLEMS

TEN = dt.datetime(2024, 5, 14, 10, tzinfo=dt.UTC)


def found(slug, holds=True, kind="root_cause", window=None, follows=(), **figures):
    step = Step(T("claim"), "deciding", holds, (Ref("a.log", "text", line=1),))
    times = None if window is None else (TEN + dt.timedelta(minutes=window[0]), TEN + dt.timedelta(minutes=window[1]))
    made = Finding(slug, kind, T("title"), T("summary"), [step], figures, window=times)
    made.consequence_of = tuple(follows)
    return made


@pytest.fixture(autouse=True)
def _leads(monkeypatch):
    flood, busy = Cause(T("title"), "flood", leads_to=("busy",)), Cause(T("title"), "busy", leads_to=("timeouts",))
    every = (*causes.discover(), flood, busy)
    monkeypatch.setattr(causes, "discover", lambda: every)


@pytest.mark.parametrize(("findings", "expected"), rows_of(__file__, "the_order_of_causes"))
def test_the_order_of_causes(findings, expected):
    made = [found(slug, **how) for slug, how in findings.items()]
    assert [f.cause for f in triage.ordered(made, triage.explained_by(made))] == expected


@pytest.mark.parametrize(("findings", "explained"), rows_of(__file__, "what_explains_what"))
def test_what_explains_what(findings, explained):
    made = triage.explained_by([found(slug, **how) for slug, how in findings.items()])
    assert {slug: list(by) for slug, by in made.items()} == explained


def test_lines_that_a_confirmed_cause_explains_are_no_finding_of_their_own():
    flood = found("flood", window=(6, 9))
    late, early, sure, other = (
        found(slug, None, "neighbour", at)
        for slug, at in (("busy", (7, 9)), ("busy", (0, 5)), ("busy", (7, 9)), ("quiet", (7, 9)))
    )
    for each in (late, early, other):
        each.steps = [Step(T("claim"), "supporting", True, flood.steps[0].evidence)]
    sure.steps = flood.steps
    assert triage.folded([flood], [late, other]) == [flood, other]
    assert triage.folded([flood], [early]) == [flood, early], "over before the flood began"
    assert triage.folded([flood], [sure]) == [flood, sure]
    assert triage.folded([found("flood", None)], [late])[1:] == [late]


def test_what_a_cause_leads_to_is_a_cause_or_a_known_problem():
    known = {cause.slug for cause in causes.discover()} | {slug for slug, each in PROBLEMS.items() if each.seen.verdict}
    assert {slug for cause in causes.discover() for slug in cause.leads_to if cause.title.en != "title"} <= known


@pytest.mark.parametrize(("cause", "problem"), rows_of(__file__, "its_own_lines_are_told_with_the_cause"))
def test_its_own_lines_are_told_with_the_cause(cause, problem):
    """Offsets that go back under a doubled client id, and answers that cannot be written to a consumer that stands still."""
    line = found(problem, None, "neighbour")
    line.steps = [Step(T("claim"), "supporting", True)]
    assert triage.folded([found(cause)], [line])[1:] == []
    assert triage.folded([found(cause, None)], [line])[1:] == [line]
