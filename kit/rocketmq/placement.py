"""The placement of the half message in the business code, and what every failure then leaves: each path of one transaction through client and broker.

Three placements. *first*: everything inside executeLocalTransaction. *middle*: the order in an outer database transaction, the log row inside
executeLocalTransaction. *last*: order, log row and send in one database transaction, the answer given at once (COMMIT) or left to the check
(UNKNOWN). Upstream:

* client/impl/producer/DefaultMQProducerImpl.sendMessageInTransaction: no SEND_OK → ROLLBACK, nothing local runs; an exception of
  the local transaction is caught, the answer is UNKNOWN; the answer is one-way;
* broker/transaction/queue/TransactionalMessageServiceImpl.check: renew the half message, then ask; discard at the limit;
* broker/processor/EndTransactionProcessor: an answer ends the record it names, and only that one; it does not look
  whether another copy was ended before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Literal

import attrs

from kit.i18n import Sentence, T
from kit.rocketmq.data import facts

Placement = Literal["first", "middle", "last"]
Outcome = Literal["consistent", "row_without_message", "message_without_row", "waiting", "duplicate"]
Answer = Literal["COMMIT", "ROLLBACK", "UNKNOWN"]
Choose = Callable[[Sequence[Any]], Any]

NOT_OK: Final = ("flush_disk_timeout", "flush_slave_timeout", "slave_not_available")
PLACEMENTS: Final[tuple[Placement, ...]] = ("first", "middle", "last")
WORST: Final[tuple[Outcome, ...]] = ("message_without_row", "row_without_message", "duplicate", "waiting", "consistent")
BROKEN: Final = {"message_without_row", "row_without_message"}

_SENTENCES: Final = facts("placement.yaml", dict[str, dict[str, T]])
OUTCOMES: Final = _SENTENCES["outcomes"]
FAILURES: Final = _SENTENCES["failures"]
STEPS: Final = _SENTENCES["steps"]
"""Transitions a path is made of."""
_PUBLISHED: Final = ("none", "business_exception", "send_throws", *NOT_OK, "commit_lost", "consumer_fails_once")
DOCUMENTED: Final[dict[Placement, tuple[str, ...]]] = {
    "first": (*_PUBLISHED, "local_throws", "local_rollback", "local_unknown"),
    "middle": (*_PUBLISHED, "local_throws", "local_rollback", "local_unknown"),
    "last": _PUBLISHED,
}
"""Failures in the published comparison of the placements; with the half message last nothing local can fail."""


@attrs.frozen
class Assumptions:
    """Assumptions. The defaults are what brokers and clients really do, with an application that checks nothing."""

    looks_at_status: bool = False
    """The application throws unless the send's status is SEND_OK."""
    looks_at_local_state: bool = False
    """It throws unless the local transaction's answer is the one expected."""
    no_row: Answer = "ROLLBACK"
    """What its check answers while there is no row (yet)."""
    last_answer: Answer = "COMMIT"
    """What executeLocalTransaction returns with the half message last."""
    log_joins_outer: bool = False
    """In the middle: the log row is written in the outer database transaction, not in one of its own."""
    producer_returns: bool = True
    """Whether after a crash an instance of the group answers checks again."""
    copies_apart: bool = True
    """Whether an answer ends only the copy it names, so that a late one is stored although another copy was ended; else the first answer wins."""
    idempotent: bool = True
    """Whether the consumer handles a second delivery without a second effect."""
    check_max: int = 3
    """transactionCheckMax, kept small: more rounds only make paths longer."""


@attrs.frozen
class End:
    """The end of one path: what is left, and the transitions that led there."""

    outcome: Outcome
    row: bool
    commits: int
    half: str
    path: tuple[str, ...]


class _Crash(Exception):
    """The producer's process dies."""


class _Thrown(Exception):
    """An exception reaches the application's code around the send."""


@attrs.define
class _World:
    """Everything that exists of one order: database, half message, answers."""

    placement: Placement
    failure: str
    given: Assumptions
    choose: Choose
    row: str = "none"  # none, open, kept, undone
    log: str = "none"
    half: str = "none"  # none, live, ended, discarded
    renewed: bool = False
    commits: int = 0
    checks: int = 0
    gone: bool = False
    path: list[str] = attrs.field(factory=list)

    def note(self, what: str) -> None:
        self.path.append(what)

    def point(self, name: str) -> None:
        if self.failure == f"crash_{name}":
            self.note("crash")
            raise _Crash

    # --- client -----------------------------------------------------------------------------------------------------------
    def send(self) -> bool:
        """Send the half message; False where the status is not SEND_OK (the client then rolls back by itself)."""
        self.point("before_send")
        if self.failure == "send_throws":
            if self.choose(["refused", "stored, answer lost"]) != "refused":
                self.half = "live"
                self.note("half stored")
            self.note("send throws")
            raise _Thrown
        self.half = "live"
        self.note("half stored")
        if self.failure in NOT_OK:
            self.note(self.failure.upper())
            self.answer("ROLLBACK")
            if self.given.looks_at_status:
                raise _Thrown
            return False
        self.point("after_send")
        return True

    def answer(self, said: Answer) -> None:
        """Send END_TRANSACTION from the producer: one-way, it names the original half record."""
        if self.failure in ("commit_lost", "local_slow_answer_lost") or self.failure.startswith("check_"):
            self.note(f"{said} lost")
            return
        self.note(said)
        if said == "UNKNOWN":
            return
        if said == "COMMIT" and (self.half == "live" or self.given.copies_apart):
            self.commits += 1
            self.note("committed")
        if self.failure == "op_late" and said == "COMMIT":
            return
        # The op record covers the original; a renewed copy stays live and is checked again.
        if self.half == "live" and not (self.renewed and self.given.copies_apart):
            self.half = "ended"

    def database(self, holds: str) -> None:
        self.row = holds
        self.note({"kept": "row committed", "undone": "row rolled back", "open": "row written"}[holds])

    def settle_log(self, fate: str) -> None:
        """Give the log row of an outer transaction the same fate."""
        if self.log == "open":
            self.log = fate

    # --- broker -----------------------------------------------------------------------------------------------------------
    def check(self) -> Answer:
        """Run one check: renew, ask, process the answer."""
        self.checks += 1
        self.renewed = True
        said = self.asked()
        self.note(f"check {said}")
        # The copy that reaches the limit can be discarded in the same round, before the answer arrives; a COMMIT still
        # counts.
        last = self.checks >= self.given.check_max
        early = last and said == "COMMIT" and self.choose(["answer first", "discard first"]) == "discard first"
        if last and (said == "UNKNOWN" or early):
            self.half = "discarded"
            self.note("discarded")
        elif said != "UNKNOWN":
            self.half = "ended"
        if said == "COMMIT":
            self.commits += 1
            self.note("committed")
        return said

    def asked(self) -> Answer:
        if self.gone and not self.given.producer_returns:
            return "UNKNOWN"
        forced: dict[str, Answer] = {"check_commit": "COMMIT", "check_rollback": "ROLLBACK", "check_unknown": "UNKNOWN"}
        if self.failure in forced:
            return forced[self.failure]
        if self.failure == "check_other_application":
            other: Answer = self.choose(["COMMIT", "ROLLBACK", "UNKNOWN"])
            return other
        seen = self.log if self.placement == "middle" else self.row
        return "COMMIT" if seen == "kept" else self.given.no_row

    def slow(self) -> None:
        """Run any number of checks in the middle of the work."""
        while (
            self.failure.startswith("local_slow") and self.half == "live" and self.choose(["go on", "check"]) == "check"
        ):
            self.check()

    def settle(self) -> None:
        """Check until the half message is ended; if the check never knows, stop possibly before the limit."""
        while self.half == "live":
            if (
                self.check() == "UNKNOWN"
                and self.half == "live"
                and self.choose(["next round", "look now"]) == "look now"
            ):
                return


def run(placement: Placement, failure: str, given: Assumptions, choose: Choose) -> End:
    """Follow one path; `choose` picks among the possible continuations wherever timing or chance decides."""
    world = _World(placement, failure, given, choose)
    try:
        {"first": _first, "middle": _middle, "last": _last}[placement](world)
        world.point("at_end")
    except _Thrown:
        if world.row == "open":
            world.database("undone")
        world.settle_log("undone")
    except _Crash:
        world.gone = True
        if world.row == "open":
            world.database("undone")
        world.settle_log("undone")
    world.settle()
    outcome = _consumed(world, _outcome(world))
    return End(outcome, world.row == "kept", world.commits, world.half, tuple(world.path))


def _first(world: _World) -> None:
    if not world.send():
        return
    world.database("open")
    world.point("in_local")
    world.slow()
    fails = world.failure in ("business_exception", "local_throws", "local_swallows", "local_rollback")
    undecided = world.failure == "local_unknown" or world.failure.startswith("check_")
    if fails or (undecided and world.choose(["row kept", "row undone"]) == "row undone"):
        world.database("undone")
        answers: dict[str, Answer] = {"local_swallows": "COMMIT", "local_rollback": "ROLLBACK"}
        world.answer(answers.get(world.failure, "UNKNOWN"))
        return
    if world.failure == "outer_commit_fails":
        world.database("undone")
        world.answer("UNKNOWN")
        return
    world.database("kept")
    world.slow()
    world.point("before_answer")
    world.answer("UNKNOWN" if world.failure == "local_unknown" else "COMMIT")
    world.point("after_answer")


def _middle(world: _World) -> None:
    world.database("open")
    if world.failure == "business_exception":
        raise _Thrown
    said: Answer = "ROLLBACK"
    if world.send():
        world.slow()
        said = _middle_local(world)
        world.answer(said)
    if world.failure == "exception_after_send" or (world.given.looks_at_local_state and said != "COMMIT"):
        raise _Thrown
    _outer_commit(world)


def _middle_local(world: _World) -> Answer:
    fails = world.failure in ("local_throws", "local_swallows", "local_rollback")
    undecided = world.failure == "local_unknown" or world.failure.startswith("check_")
    if fails or (undecided and world.choose(["log kept", "log missing"]) == "log missing"):
        world.note("log row fails")
        answers: dict[str, Answer] = {"local_swallows": "COMMIT", "local_rollback": "ROLLBACK"}
        return answers.get(world.failure, "UNKNOWN")
    world.log = "open" if world.given.log_joins_outer else "kept"
    world.note("log row written")
    world.point("in_local")
    world.slow()
    world.point("before_answer")
    return "UNKNOWN" if world.failure == "local_unknown" else "COMMIT"


def _last(world: _World) -> None:
    world.database("open")
    if world.failure == "business_exception":
        raise _Thrown
    if world.send():
        odd: dict[str, Answer] = {"local_throws": "UNKNOWN", "local_unknown": "UNKNOWN", "local_rollback": "ROLLBACK"}
        said = odd.get(world.failure, world.given.last_answer)
        world.point("in_local")
        world.point("before_answer")
        world.answer(said)
        if world.given.looks_at_local_state and said != world.given.last_answer:
            raise _Thrown
    undecided = world.failure.startswith("check_")
    if world.failure == "exception_after_send" or (
        undecided and world.choose(["row kept", "row undone"]) == "row undone"
    ):
        raise _Thrown
    world.slow()
    _outer_commit(world)


def _outer_commit(world: _World) -> None:
    world.point("after_answer")
    if world.failure == "outer_commit_fails":
        raise _Thrown
    world.database("kept")
    world.settle_log("kept")


def _outcome(world: _World) -> Outcome:
    if world.half == "live":
        return "waiting"
    row = world.row == "kept"
    if world.commits and not row:
        return "message_without_row"
    if row and not world.commits:
        return "row_without_message"
    return "duplicate" if world.commits > 1 else "consistent"


def _consumed(world: _World, outcome: Outcome) -> Outcome:
    if not world.commits or outcome != "consistent":
        return outcome
    if world.failure == "consumer_fails_always":
        world.note("dead letter")
        return "waiting"
    if world.failure == "consumer_fails_once":
        after = world.choose(["before its effect", "after its effect"]) == "after its effect"
        world.note("consumed again")
        return "duplicate" if after and not world.given.idempotent else outcome
    return outcome


PUBLISHED_ASSUMPTIONS: Final = Assumptions(copies_apart=False)
"""The published comparison assumes one record for each transaction, whose first answer counts."""


def paths(placement: Placement, failure: str, given: Assumptions | None = None) -> Iterator[End]:
    """Yield the different ends of all paths of one failure."""
    pending: list[list[int]] = [[]]
    while pending:
        script = pending.pop()
        taken: list[int] = []

        def choose(options: Sequence[Any], script: list[int] = script, taken: list[int] = taken) -> Any:
            at = len(taken)
            if at >= len(script):
                pending.extend([*taken, other] for other in range(len(options) - 1, 0, -1))
            taken.append(script[at] if at < len(script) else 0)
            return options[taken[at]]

        yield run(placement, failure, given or Assumptions(), choose)


def table(given: Assumptions | None = None, failures: Sequence[str] = tuple(FAILURES)) -> list[dict[str, Any]]:
    """Return one row for each placement and failure: `placement`, `failure`, `text`, `worst`, `outcomes` {outcome: shortest path}.

    A path is a tuple of keys of `STEPS`; `describe` turns it into sentences.
    """
    rows = []
    for placement in PLACEMENTS:
        for failure in failures:
            found: dict[Outcome, tuple[str, ...]] = {}
            for end in paths(placement, failure, given):
                if end.outcome not in found or len(end.path) < len(found[end.outcome]):
                    found[end.outcome] = end.path
            ordered = {outcome: found[outcome] for outcome in WORST if outcome in found}
            row = {"placement": placement, "failure": failure, "text": FAILURES[failure], "worst": next(iter(ordered))}
            rows.append(row | {"outcomes": ordered})
    return rows


def safe(
    placement: Placement, given: Assumptions = PUBLISHED_ASSUMPTIONS, failures: Sequence[str] | None = None
) -> bool:
    """Return whether no path of these failures (None: the published ones) leaves a row without a message or a message without a row."""
    chosen = DOCUMENTED[placement] if failures is None else failures
    return not any(end.outcome in BROKEN for failure in chosen for end in paths(placement, failure, given))


def beyond(given: Assumptions | None = None) -> list[dict[str, Any]]:
    """Return the rows of `table` outside the published comparison that can end inconsistent or twice."""
    return [
        row
        for row in table(given)
        if row["failure"] not in DOCUMENTED[row["placement"]] and row["worst"] in BROKEN | {"duplicate"}
    ]


def describe(path: Sequence[str]) -> list[Sentence]:
    """Return the transitions of a path as sentences."""
    return [STEPS[step] for step in path]
