"""Known problems (`kit.rocketmq.catalogue`) in the logs of a case: one `neighbour` finding for each that was seen.

A problem that was not seen is no finding: the catalogue has hundreds of entries, and a missing log shows nothing.
Texts that a cause judges are left to it, in a paste where it makes something of them. A healthy system prints many of
these lines at start and stop: each problem has a minimum number and duration, and lines that every start or stop prints
count only where they go on without one (`goes_on` in their rows). In a paste, where nobody copies a line for nothing, a
single line of the others is enough to suspect the problem.
"""

from collections.abc import Sequence
from typing import Any, Final

from kit.analysis import noise, reach, refs, setup
from kit.analysis.messages import lookups
from kit.causes.findings import Finding, Remedy, Role, Step, supporting
from kit.causes.texts import Figure
from kit.i18n import Sentence, labels
from kit.rocketmq.catalogue import PROBLEM, PROBLEMS, SEARCHED, Problem
from kit.rocketmq.versions import NEWEST, OLDEST
from kit.tables.facts import Facts

SAYS: Final = labels("causes")["known_problems"]
FIGURES: Final = {"entries": Figure(SAYS["entries"].en, SAYS["entries"].zh)}
GROUPS: Final = 5
"""Most groups that a sentence names."""


def examine(facts: Facts) -> list[Finding]:
    """Return one finding for each known problem that was seen often and long enough, most entries first."""
    paste = lookups.is_paste(facts)
    problems = []
    for problem in SEARCHED:
        seen = refs.seen(facts, PROBLEM + problem.slug)
        count = seen.count - refs.seen(facts, problem.seen.normal_with).count
        of_tools = problem.seen.of_users and {file for file, _ in seen.places} <= reach.tools(facts)
        if count <= 0 or of_tools:
            continue
        counts = [(count, seen.first, seen.last)]
        if problem.seen.by and count >= problem.seen.least:
            counts = [(row["n"], row["first"], row["last"]) for row in facts.rows(problem.seen.by)]
        spans = [(n, (last - first).total_seconds() if first and last else 0) for n, first, last in counts]
        enough = any(n >= problem.seen.least and lasts >= problem.seen.lasts for n, lasts in spans)
        if enough or paste:
            certain = enough and problem.seen.verdict == "confirmed"
            problems.append((count, _finding(facts, problem, seen, count, certain=certain)))
    # What should pass but goes on, each problem by its most frequent such text.
    on = noise.going_on(facts)
    for problem in PROBLEMS.values():
        if passing := [on[slug] for slug in problem.seen.passing if slug in on]:
            judged = max(passing, key=lambda each: each.outside)
            problems.append((judged.outside, _going_on(facts, judged, problem)))
    return [finding for _, finding in sorted(problems, key=lambda each: (-each[0], each[1].cause))]


def unrecognised(facts: Facts, answers: Sequence[Finding]) -> list[Finding]:
    """Return a finding for each known problem that a paste reports and no cause took up: some want more than a line."""
    explained = {finding.cause for finding in answers if finding.verdict in ("confirmed", "suspected", "ruled_out")}
    shown = [finding for finding in answers if finding.verdict in ("confirmed", "suspected")]
    quoted = {(ref.file, ref.line) for finding in shown for step in finding.steps for ref in step.evidence}
    return [
        _finding(facts, problem, seen, seen.count, certain=False)
        for slug, seen in lookups.reported(facts).items()
        if (problem := PROBLEMS[slug]).seen.cause not in {"", *explained}
        if not problem.seen.passing and quoted.isdisjoint(seen.places)
    ]


def _finding(facts: Facts, problem: Problem, seen: refs.Seen, count: int, *, certain: bool) -> Finding:
    role: Role = "deciding" if certain else "supporting"
    steps = [Step(SAYS["seen"].say(n=count), role, True, refs.quote(facts, seen), id="seen")]
    # A broker release of the evidence that has the fault.
    named = setup.broker_versions(facts) if problem.fault.since or problem.fault.until else ()
    if faulty := next((version for version in named if problem.fault.has(version)), None):
        since, until = problem.fault.since or str(OLDEST), problem.fault.until or str(NEWEST)
        claim = SAYS["has_it"].say(version=str(faulty), since=since, until=until)
        steps.append(supporting("release", claim, True))
    summary = SAYS["summary"].say(meaning=problem.meaning, n=count)
    return _of(problem, summary, steps, count, (seen.first, seen.last), seen.timed)


def _of(problem: Problem, summary: Sentence, steps: list[Step], entries: int, window: Any, files: Any = ()) -> Finding:
    finding = Finding(problem.slug, "neighbour", problem.title, problem.title, steps, {"entries": entries})
    finding.summary, finding.window, finding.window_of = summary, window, files
    if problem.remedy is not None:
        finding.remedies = [Remedy(problem.remedy, problem.decides or problem.next, problem.risk, SAYS["verify"])]
    return finding


def _going_on(facts: Facts, judged: noise.Judged, problem: Problem) -> Finding:
    words = {"meaning": problem.meaning, "n": judged.outside, "around": judged.text.around}
    groups = ", ".join(judged.groups[:GROUPS])
    summary = SAYS["goes_on"].say(groups=groups or None, **words)
    minutes, near = round((judged.last - judged.first).total_seconds() / 60), judged.timed - judged.outside
    span = SAYS["span"].say(minutes=minutes, n=judged.outside, near=near)
    steps = [supporting("goes-on", span, True, [facts.ref(*judged.place)])]
    return _of(problem, summary, steps, judged.outside, (judged.first, judged.last))
