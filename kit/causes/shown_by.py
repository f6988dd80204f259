"""Which evidence would show a step: `shown_by` of the steps that are shown false where nothing of them is seen.

The absence of something shows that it did not happen only in evidence in which it would be seen. Without that
evidence the step is not known, and what would show it is requested.
"""

import datetime as dt
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final

import attrs

from kit.analysis import brokers, reach, refs
from kit.analysis.consumers import lag, members
from kit.analysis.messages import lookups
from kit.analysis.sends import attempts, sends
from kit.causes import collect_next
from kit.causes.findings import Finding
from kit.data import grouped
from kit.formats.printed_times import utc
from kit.i18n import labels
from kit.inventory.model import STORES, Ref, folder_of
from kit.tables.facts import Facts

LOGS: Final = ("broker", "store", "transaction")
"""Sources of logs that a broker begins at its start."""
START: Final = dt.timedelta(seconds=30)
"""How long a broker of a busy host takes to begin all of them."""
SILENCE: Final = dt.timedelta(minutes=1)
"""How often a broker prints at least (`BrokerController`, the dispatch behind the commit log)."""
LONG: Final = dt.timedelta(minutes=10)
"""What somebody took from a broker for an incident is longer, or has its start."""
PRINTED: Final = 100
"""Settings that any broker prints at its start, at the least: a log that has some, but fewer, has lost lines."""
EARLIER: Final = dt.timedelta(days=30)
"""What a text quotes of an earlier incident is at least so much older than its last line."""


def _covers(facts: Facts, source: str) -> bool:
    """Return whether the logs of a source begin and end with the records and the other logs: a tail, a window, or a log
    whose beginning was rolled away, shows nothing of what lies outside; nor do a few lines of each log.
    """
    spans = [(item, item.first, item.last) for item in facts.zoned.items if item.first and item.last]
    every = [span for span in spans if span[0].source in LOGS or span[0].kind in STORES]
    own = [span for span in every if span[0].source == source]
    if not own or not brokers.of_each(facts, (item.file for item, *_ in own)):
        return not own and facts.has_source(source)
    printed = Counter(folder_of(r["file"]) for r in facts.rows("settings") if r["origin"] == "broker.log")
    if any(n < PRINTED for n in printed.values()):
        return False
    begins = min(first for _, first, _ in own) <= min(first for _, first, _ in every) + START
    # One log may be silent while nothing happens, not all of a broker that stores records.
    logs = own if source == "broker" else [span for span in every if span[0].source in LOGS]
    end = max(last for *_, last in every)
    # A paste was chosen for what it shows.
    few = end - min(first for _, first, _ in every) < LONG and not refs.seen(facts, "broker-boot").count
    return begins and max(last for *_, last in logs) >= end - SILENCE and (not few or _excerpt(facts))


def _stored(facts: Facts) -> bool:
    """Return whether the commit logs hold what was stored: no master's is missing, none was cut off or lacks a
    hundredth or its first files, unless the broker itself deleted these.
    """
    if not facts.has("messages") or facts.rows("unstored_brokers"):
        return False
    logs = facts.files.of_kind(*STORES, replicas=False)
    begins = grouped((folder_of(item.file), item.base or 0) for item in logs).values()
    if any(map(min, begins)) and not refs.seen(facts, "store-file-deleted"):
        return False
    large = [stretch for stretch in brokers.stretches(facts) if stretch["large"]]
    if any(stretch["cut"] for stretch in large):
        return False
    missing = sum(stretch["end"] - stretch["start"] for stretch in large)
    return not missing or 100 * missing <= sum(row["bytes"] for row in facts.rows("store_extent"))


def _of_each(facts: Facts, *kinds: str) -> bool:
    """Return whether files of these kinds or sources are of each cluster, where brokers of several have one name."""
    files = [item.file for item in facts.files.items if item.kind in kinds or item.source in kinds]
    return not files or brokers.of_each(facts, files)


PRESENT: Final[Mapping[str, Callable[[Facts], bool]]] = {
    "commitlog": _stored,
    "configuration": lambda facts: (
        facts.has("configs") and brokers.of_each(facts, (r["file"] for r in facts.rows("settings")))
    ),
    "broker's configuration": lambda facts: bool(every := brokers.all_of(facts)) and all(b.configured for b in every),
    "offsets": lambda facts: not lag.positions(facts).empty and _of_each(facts, "store_json", "mqadmin"),
    "connections": lambda facts: bool(members.connections(facts)) and _of_each(facts, "mqadmin"),
    "deliveries": lambda facts: (facts.has("rows") or facts.has_source("app")) and _of_each(facts, "rows", "app"),
    "look-ups": lambda facts: any(facts.files.of_kind("mqadmin", "text")) and _of_each(facts, "mqadmin", "text"),
    "recorded deliveries": lambda facts: facts.has("deliveries"),
    "business rows": lambda facts: facts.has("rows"),
    "thread dumps": lambda facts: facts.has("threads"),
    "host metrics": lambda facts: facts.has("metrics"),
    "answers to sends": lambda facts: (
        sends.ledger(facts).knows_kinds
        and (sends.lists_all(facts) or reach.every_client(facts))
        and _of_each(facts, "sends", "client")
    ),
    "client logs": lambda facts: reach.client_logs(facts) and reach.every_client(facts) and _of_each(facts, "client"),
    # One that begins with the start of a client of a user: neither mqadmin's nor an excerpt.
    "consumer's client log": lambda facts: any(row["role"] == "consumer" for row in attempts.clients_of_users(facts)),
    "gRPC consumer's log": lambda facts: any(
        row["role"].startswith("gRPC") and row["role"].endswith("consumer") for row in attempts.clients_of_users(facts)
    ),
    "broker.log": lambda facts: _covers(facts, "broker"),
    "store.log": lambda facts: _covers(facts, "store"),
    "transaction.log": lambda facts: _covers(facts, "transaction"),
}
"""Whether the evidence has an artefact."""

REQUESTED_AS: Final = {"answers to sends": "sends", "recorded deliveries": "deliveries"}
"""What to request (`collect.yaml`) where it has another name; a look-up that nobody made cannot be requested."""


def has(facts: Facts, evidence: str) -> bool:
    return any(all(PRESENT[each](facts) for each in every) for every in alternatives(evidence))


def alternatives(evidence: str) -> tuple[tuple[str, ...], ...]:
    """Return the sets of artefacts, each of which would show a step."""
    return tuple(tuple(each.split(" + ")) for each in evidence.split(" | "))


def lacking(facts: Facts, evidence: str) -> list[list[str]]:
    """Return what to request for each alternative of what would show something."""
    requests = collect_next.ARTEFACTS
    return [
        [name for each in every if not PRESENT[each](facts) and (name := REQUESTED_AS.get(each, each)) in requests]
        for every in alternatives(evidence)
    ]


def shows_absence(facts: Facts, evidence: str) -> bool:
    """Return whether something did not happen if nothing of it is seen here: a paste was chosen for what it shows."""
    return has(facts, evidence) and not _excerpt(facts)


SAYS: Final = labels("causes")["shown_by"]
NAMED: Final = 2
"""Most artefacts that a summary names."""


def weighed(facts: Facts, finding: Finding) -> Finding:
    """Return a finding without what it concludes from what is not there, where the evidence would not show it."""
    _without_absence(facts, finding)
    _documented(facts, finding)
    _earlier(facts, finding)
    deciding = (step for step in finding.steps if step.holds and step.role == "deciding")
    shown = {folder_of(ref.file) for step in deciding for ref in step.evidence}
    if shown and facts.has("messages") and facts.rows("same_names"):
        # What one cluster shows does not refute what was seen of another one; lines of the same folder do.
        for n, step in enumerate(finding.steps):
            if step.holds is False and shown.isdisjoint(folder_of(ref.file) for ref in step.evidence):
                finding.steps[n] = attrs.evolve(step, holds=None)
    if _excerpt(facts):
        finding.figures = {name: value if value != 0 else None for name, value in finding.figures.items()}
    if finding.verdict == "insufficient_evidence" and finding.says_nothing:
        # "Nothing happened" would be more than the evidence shows.
        lacks = [missing.artefact for missing in finding.missing[:NAMED]]
        finding.summary = SAYS["not_known"].say(artefacts=lacks or None)
        if _excerpt(facts):
            finding.missing.insert(0, collect_next.ask("whole logs", SAYS["want"]))
    return finding


def _documented(facts: Facts, finding: Finding) -> None:
    """Take back what documents alone confirm: they quote what was printed elsewhere, or never."""
    if finding.verdict == "confirmed":
        documents = {item.file for item in facts.files.items if item.detail.get("document")}
        for n, step in enumerate(finding.steps):
            quoted = step.evidence if step.holds else ()
            if quoted and all(ref.file in documents or _apart(facts, ref) for ref in quoted):
                finding.steps[n] = attrs.evolve(step, role="supporting")
        if finding.verdict != "confirmed":
            finding.summary = SAYS["documented"].say(summary=finding.summary)


def _apart(facts: Facts, ref: Ref) -> bool:
    """Return whether a text quotes a line whose time is before or after that of all logs and records."""
    items = facts.zoned.items
    text = next((item for item in items if item.file == ref.file and item.kind == "text"), None)
    spans = [(i.first, i.last) for i in items if i.kind in ("log", *STORES) and i.first and i.last]
    if text is None or ref.line is None or not spans:
        return False
    begin, end = min(first for first, _ in spans), max(last for _, last in spans)
    margin = LONG if text.zone else dt.timedelta(days=1)
    times = facts.answers("entries_around", places=f"{ref.file}\x01{ref.line}")
    return any(not begin - margin <= row["at"].replace(tzinfo=dt.UTC) <= end + margin for row in times)


def _earlier(facts: Facts, finding: Finding) -> None:
    """Take back what a paste only quotes of long before its last line."""
    lasts = [item.last for item in facts.zoned.items if item.last]
    if finding.verdict == "confirmed" and finding.window and lasts and lookups.is_paste(facts):
        age = max(lasts) - utc(finding.window[1])
        if age > EARLIER:
            finding.steps = [attrs.evolve(s, role="supporting") if s.holds else s for s in finding.steps]
            finding.summary = SAYS["earlier"].say(summary=finding.summary, days=age.days)


def _without_absence(facts: Facts, finding: Finding) -> None:
    # What is shown false by nothing that could be quoted.
    absent = [s for s in finding.steps if s.role == "deciding" and s.holds is False and not s.evidence]
    chosen = _excerpt(facts)
    # What is not seen in one cluster may have been in another, of which half the evidence is here.
    anything = chosen or (bool(absent) and brokers.elsewhere(facts))
    unsure = absent if anything else [s for s in absent if s.shown_by and not has(facts, s.shown_by)]
    if not unsure:
        return
    finding.steps = [attrs.evolve(step, holds=None) if step in unsure else step for step in finding.steps]
    if not any(step.holds is not None for step in finding.steps):
        finding.figures = {name: value or None for name, value in finding.figures.items()}
    if not finding.missing and not chosen:
        step = unsure[0]
        wanted = min(lacking(facts, step.shown_by or "commitlog"), key=len)
        # Logs of some clients are here, and of all of them they would show it.
        others = "client logs" in wanted and reach.client_logs(facts)
        why = (SAYS["want_others"] if others else SAYS["want_shown"]).say(claim=step.claim)
        finding.missing = [collect_next.ask(name, why) for name in wanted]


def _excerpt(facts: Facts) -> bool:
    """Return whether the evidence is a paste. The output of a command is complete, however short."""
    return lookups.is_paste(facts) and not facts.files.of_kind("mqadmin")
