"""The verdict rule of interface §4, the sentences, what to collect next, and which cause another explains: it is named as its consequence and comes after it."""

import datetime as dt

import attrs
import pytest
import store_rows
from folders import opened, written
from table import rows_of

from kit import causes
from kit.causes import collect_next, declared, triage
from kit.causes.findings import Finding, Remedy, Step, verdict
from kit.causes.texts import Cause, Figure, RemedyTexts
from kit.i18n import T
from kit.inventory.model import Ref
from kit.rocketmq.catalogue import PROBLEMS

CLAIM = T("claim", "主张")
LINE = (Ref("broker.log", "text", line=3),)


def step(role, holds, evidence=LINE):
    return Step(CLAIM, role, holds, evidence)


def test_what_is_suspected_is_not_said_to_be_absent_and_a_remedy_may_concern_fewer():
    nothing, own = T("Nothing of the kind was seen."), T("A summary of its own.")

    def said(*steps, summary=None):
        finding = Finding("a-cause", "neighbour", T("title"), nothing, list(steps))
        if summary is not None:
            finding.summary = summary
        return str(finding.as_dict()["summary"])

    unknown, hint = step("deciding", None), step("supporting", True)
    assert said(unknown, hint) == CLAIM.en
    assert said(unknown, hint, summary=own) == own.en
    assert said(unknown) == said(step("deciding", False), hint) == nothing.en
    # A remedy may concern fewer than its finding.
    shown = [step("deciding", True)]
    finding = Finding("a-cause", "neighbour", T("title"), T("No."), shown, actors=("orders", "hotels"))
    finding.remedies = [Remedy(CLAIM, CLAIM, CLAIM, CLAIM, actors=("hotels",)), Remedy(CLAIM, CLAIM, CLAIM, CLAIM)]
    ends = [str(each["action"]).removeprefix(CLAIM.en) for each in finding.as_dict()["remedies"]]
    assert ends == [" Concerns hotels.", " Concerns orders, hotels."]


@pytest.mark.parametrize(("line", "named"), rows_of(__file__, "a_known_text_concerns_whom_its_lines_name"))
def test_a_known_text_concerns_whom_its_lines_name(line, named):
    shown = Step(CLAIM, "supporting", True, [Ref("a.log", line, line=1)])
    finding = Finding("a-cause", "neighbour", T("title"), T("Nothing."), [shown])
    finding.summary = T("It happened.")
    assert finding.as_dict()["summary"] == (f"It happened. Concerns {named}." if named else "It happened.")
    finding.steps = [attrs.evolve(shown, holds=None), step("supporting", True)]
    assert finding.as_dict()["summary"] == "It happened.", "a line that shows nothing"
    finding.steps = [shown, step("deciding", True, [Ref("a.log", "topic=decides", line=2)])]
    assert finding.as_dict()["summary"] == "It happened. Concerns decides.", "what decides comes first"


@pytest.mark.parametrize(("holds", "figures", "summary", "said"), rows_of(__file__, "whom_they_concern"))
def test_headline_and_remedies_say_whom_they_concern(holds, figures, summary, said):
    texts = {"figures": {"group": Figure("group", "组", actor=True)}, "says": {"all": T(summary)}}
    remedies = {"one": RemedyTexts(T(summary), CLAIM, CLAIM, needs="always")}
    cause = Cause(title=CLAIM, summary={"all": "always"}, remedies=remedies, **texts)
    observed = declared.Observed(figures, steps=[step("deciding", holds)])
    told = declared.finding(None, cause, observed).as_dict()
    assert (told["summary"], told["remedies"][0]["action"]) == (said, said)


@pytest.mark.parametrize(("steps", "expected"), rows_of(__file__, "verdict_follows_from_the_steps"))
def test_the_verdict_follows_from_the_steps(steps, expected):
    words = [text.split() for text in steps]
    holds = {"true": True, "false": False, "null": None}
    assert verdict([step(role, holds[how], () if bare else LINE) for role, how, *bare in words]) == expected


def test_a_request_says_where_and_when():
    day = dt.datetime(2024, 5, 14, 2, 0, tzinfo=dt.UTC)
    window = collect_next.widened((day, day + dt.timedelta(minutes=1)))
    asked = collect_next._where(["10.0.0.1", "10.0.0.2"], window, local=False)
    assert asked.render("en") == "hosts 10.0.0.1, 10.0.0.2, 2024-05-14 01:55 to 2024-05-14 02:06 UTC"
    assert collect_next._where([str(n) for n in range(6)], None, local=False) is None
    told = attrs.evolve(collect_next.ask("commitlog", T("because", "因为")), where=asked).as_dict("zh")
    assert told["why"] == "因为（主机 10.0.0.1、10.0.0.2，2024-05-14 01:55 至 2024-05-14 02:06 UTC）"


WHY = T("it decides")
WINDOW = (dt.datetime(2024, 5, 14, 23, 58, tzinfo=dt.UTC), dt.datetime(2024, 5, 15, 0, 20, tzinfo=dt.UTC))


def command(artefact, window=None, topic=None):
    """Return the command for an artefact, as a request of a whole triage has it."""
    values = collect_next.LEFT_OUT | collect_next.times(collect_next.widened(window))
    return collect_next.filled(collect_next.ask(artefact, WHY, topic=topic).command, values)


@pytest.mark.parametrize(("artefact", "within", "topic", "has", "lacks"), rows_of(__file__, "what_a_request_takes"))
def test_what_a_request_takes(artefact, within, topic, has, lacks):
    made = command(artefact, WINDOW if within else None, topic)
    assert [text for text in has if text not in made] == [text for text in lacks if text in made] == []


def test_names_of_the_evidence_are_filled_in_and_quoted(tmp_path):
    offsets = '{"offsetTable":{"orders@points service":{0:5},"RMQ_SYS_TRANS_HALF_TOPIC@CID_RMQ_SYS_TRANS":{0:1}}}'
    conf = "brokerName=a\nstorePathRootDir=/data/$(reboot)\n"
    case = opened(tmp_path, {"consumerOffset.json": offsets, "broker.conf": conf})
    case.eager = False
    asked = [collect_next.ask(name, WHY) for name in ("connections", "configuration")]
    finding = Finding("x", "neighbour", WHY.say(), WHY.say(), missing=asked)
    collect_next.placed(case.facts, [finding])
    connections, configuration = (each.command for each in finding.missing)
    assert " -g 'points service' > " in connections and "'/data/$(reboot)'" in configuration


def test_what_a_consumer_has_is_not_sought_on_the_hosts_that_sent(tmp_path):
    log, _ = store_rows.segment(0, [{"key": "K", "born": 0, "stored": 1}])
    written(tmp_path, {f"store/commitlog/{0:020}": log})
    case = opened(tmp_path, {})
    asked = [collect_next.ask(f"{of}'s client log", WHY) for of in ("producer", "consumer")]
    finding = Finding("x", "neighbour", WHY.say(), WHY.say(), missing=asked)
    collect_next.placed(case.facts, [finding])
    assert [each.where and each.where.render("en") for each in finding.missing] == ["hosts 10.0.0.1", None]


def test_a_request_is_of_the_only_group_and_of_no_other_incident(tmp_path):
    case = opened(tmp_path, {"rocketmq_client.log": rows_of(__file__, "held_back")})
    shown, unknown = [step("supporting", True)], [step("supporting", None)]
    other = Finding("other", "root_cause", WHY.say(), WHY.say(), shown, window=WINDOW)
    want = lambda: [collect_next.ask("connections", WHY)]  # noqa: E731
    asking = [Finding("x", "root_cause", WHY.say(), WHY.say(), each, missing=want()) for each in (shown, unknown)]
    collect_next.placed(case.facts, [other, *asking])
    mine, open_ = (finding.missing[0] for finding in asking)
    assert " -g points " in mine.command and " -g points " in open_.command
    # Of one that is suspected no time is known; what would show the other is of the time that is.
    assert mine.where is None and "23:53" in open_.where.render("en")


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


def test_lines_that_a_confirmed_cause_explains_are_no_finding_and_what_it_leads_to_is_known():
    flood = found("flood", window=(6, 9))
    each = ("busy", (7, 9)), ("busy", (0, 5)), ("busy", (7, 9)), ("quiet", (7, 9))
    late, early, sure, other = (found(slug, None, "neighbour", at) for slug, at in each)
    for each in (late, early, other):
        each.steps = [Step(T("claim"), "supporting", True, flood.steps[0].evidence)]
    sure.steps = flood.steps
    assert triage.folded([flood], [late, other]) == [flood, other]
    assert triage.folded([flood], [early]) == [flood, early], "over before the flood began"
    assert triage.folded([flood], [sure]) == [flood, sure]
    assert triage.folded([found("flood", None)], [late])[1:] == [late]
    known = {cause.slug for cause in causes.discover()} | {slug for slug, each in PROBLEMS.items() if each.seen.verdict}
    assert {slug for cause in causes.discover() for slug in cause.leads_to if cause.title.en != "title"} <= known


@pytest.mark.parametrize(("cause", "problem"), rows_of(__file__, "its_own_lines_are_told_with_the_cause"))
def test_its_own_lines_are_told_with_the_cause(cause, problem):
    """Offsets that go back under a doubled client id, and answers that cannot be written to a consumer that stands still."""
    line = found(problem, None, "neighbour")
    line.steps = [Step(T("claim"), "supporting", True)]
    assert triage.folded([found(cause)], [line])[1:] == []
    assert triage.folded([found(cause, None)], [line])[1:] == [line]
