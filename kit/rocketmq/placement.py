"""The placement of the half message in the business code, and what every failure then leaves: each path of one
transaction through client and broker.

Three placements. *first*: everything inside executeLocalTransaction. *middle*: the order in an outer database
transaction, the log row inside executeLocalTransaction. *last*: order, log row and send in one database transaction,
the answer given at once (COMMIT) or left to the check (UNKNOWN). Upstream:

* client/impl/producer/DefaultMQProducerImpl.sendMessageInTransaction: no SEND_OK → ROLLBACK, nothing local runs; an exception of
  the local transaction is caught, the answer is UNKNOWN; the answer is one-way;
* broker/transaction/queue/TransactionalMessageServiceImpl.check: renew the half message, then ask; discard at the limit;
* broker/processor/EndTransactionProcessor: an answer ends the record it names, and only that one; it does not look
  whether another copy was ended before.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Literal

import attrs

from kit import data
from kit.i18n import T

Placement = Literal["first", "middle", "last"]
Outcome = Literal["consistent", "row_without_message", "message_without_row", "waiting", "duplicate"]
Answer = Literal["COMMIT", "ROLLBACK", "UNKNOWN"]
Choose = Callable[[Sequence[Any]], Any]

NOT_OK: Final = ("flush_disk_timeout", "flush_slave_timeout", "slave_not_available")
PLACEMENTS: Final[tuple[Placement, ...]] = ("first", "middle", "last")
WORST: Final[tuple[Outcome, ...]] = ("message_without_row", "row_without_message", "duplicate", "waiting", "consistent")
BROKEN: Final = {"message_without_row", "row_without_message"}

_SENTENCES: Final = data.read("rocketmq/facts/placement.yaml", dict[str, dict[str, T]])
OUTCOMES: Final = _SENTENCES["outcomes"]
FAILURES: Final = _SENTENCES["failures"]
STEPS: Final = _SENTENCES["steps"]
"""Transitions a path is made of."""
_PUBLISHED: Final = ("none", "business_exception", "send_throws", *NOT_OK, "commit_lost", "consumer_fails_once")
_LOCAL: Final = ("local_throws", "local_rollback", "local_unknown")
DOCUMENTED: Final[dict[Placement, tuple[str, ...]]] = {
    "first": _PUBLISHED + _LOCAL, "middle": _PUBLISHED + _LOCAL, "last": _PUBLISHED,
}  # fmt: skip
"""Failures in the published comparison of the placements; with the half message last nothing local can fail."""
ANSWERS: Final[dict[str, Answer]] = {
    "local_swallows": "COMMIT", "local_rollback": "ROLLBACK",
    "check_commit": "COMMIT", "check_rollback": "ROLLBACK", "check_unknown": "UNKNOWN",
}  # fmt: skip
"""What the application answers in some failures: by itself to a failed local transaction, or to every check."""


@attrs.frozen
class Assumptions:
    """Assumptions. The defaults are what brokers and clients really do, with an application that checks nothing."""

    looks_at_status: bool = False
    """The application throws unless the send's status is SEND_OK."""
    no_row: Answer = "ROLLBACK"
    """What its check answers while there is no row (yet)."""
    last_answer: Answer = "COMMIT"
    """What executeLocalTransaction returns with the half message last."""
    copies_apart: bool = True
    """Whether an answer ends only the copy it names, so that a late one is stored too; else the first one wins."""


CHECK_MAX: Final = 3
"""transactionCheckMax, kept small: more rounds only make paths longer."""
PUBLISHED_ASSUMPTIONS: Final = Assumptions(copies_apart=False)
"""The published comparison assumes one record for each transaction, whose first answer counts."""


class _Stopped(Exception):
    """The producer's process dies, or an exception reaches the application's code around the send."""


@attrs.define
class Order:
    """One order on one path: its database rows, its half message, its commits, the transitions that led there."""

    placement: Placement
    failure: str
    given: Assumptions
    choose: Choose
    row: Literal["none", "open", "kept", "undone"] = "none"
    log: Literal["none", "kept"] = "none"
    half: Literal["none", "live", "ended", "discarded"] = "none"
    commits: int = 0
    checks: int = 0
    outcome: Outcome = "waiting"
    path: list[str] = attrs.field(factory=list)

    def note(self, *transitions: str) -> None:
        self.path += transitions

    def either(self) -> bool:
        return bool(self.choose((False, True)))

    def stop_at(self, failure: str) -> None:
        """Crash or throw here if that is the failure."""
        if self.failure == failure:
            if failure.startswith("crash"):
                self.note("crash")
            raise _Stopped

    def database(self, row: Literal["open", "kept", "undone"]) -> None:
        self.row = row
        self.note({"kept": "row committed", "undone": "row rolled back", "open": "row written"}[row])

    def send(self) -> bool:
        """Send the half message; return whether the status is SEND_OK (else the client rolls back by itself)."""
        self.stop_at("crash_before_send")
        refused = self.failure == "send_throws" and not self.either()
        if not refused:
            self.half = "live"
            self.note("half stored")
        if self.failure == "send_throws":
            self.note("send throws")
            raise _Stopped
        if self.failure in NOT_OK:
            self.note(self.failure.upper())
            self.answer("ROLLBACK")
            if self.given.looks_at_status:
                raise _Stopped
            return False
        self.stop_at("crash_after_send")
        return True

    def local_fails(self, *more: str) -> bool:
        """Return whether the local transaction fails; answers of a check come whether it did or not."""
        if self.failure in ("local_throws", "local_swallows", "local_rollback", *more):
            return True
        return (self.failure == "local_unknown" or self.failure.startswith("check_")) and self.either()

    @property
    def local_answer(self) -> Answer:
        """The answer of a local transaction that failed."""
        return ANSWERS.get(self.failure, "UNKNOWN") if self.failure.startswith("local_") else "UNKNOWN"

    def answer(self, answer: Answer) -> None:
        """Send END_TRANSACTION from the producer: one-way, it names the original half record."""
        lost = self.failure in ("commit_lost", "local_slow_answer_lost") or self.failure.startswith("check_")
        self.note(f"{answer} lost" if lost else answer)
        if lost or answer == "UNKNOWN":
            return
        if answer == "COMMIT" and (self.half == "live" or self.given.copies_apart):
            self.commits += 1
            self.note("committed")
        # The op record covers the original; a copy renewed by a check stays live and is checked again.
        covered = not (self.checks and self.given.copies_apart) and (self.failure, answer) != ("op_late", "COMMIT")
        if self.half == "live" and covered:
            self.half = "ended"

    def check(self) -> Answer:
        """Run one check of the broker: renew, ask, process the answer."""
        self.checks += 1
        answer = self.asked()
        self.note(f"check {answer}")
        # The copy that reaches the limit can be discarded in the same round, before the answer arrives; a COMMIT still
        # counts.
        last = self.checks >= CHECK_MAX
        if last and (answer == "UNKNOWN" or (answer == "COMMIT" and self.either())):
            self.half = "discarded"
            self.note("discarded")
        elif answer != "UNKNOWN":
            self.half = "ended"
        if answer == "COMMIT":
            self.commits += 1
            self.note("committed")
        return answer

    def asked(self) -> Answer:
        if self.failure == "check_other_application":
            other: Answer = self.choose(("COMMIT", "ROLLBACK", "UNKNOWN"))
            return other
        if self.failure.startswith("check_"):
            return ANSWERS[self.failure]
        seen = self.log if self.placement == "middle" else self.row
        return "COMMIT" if seen == "kept" else self.given.no_row

    def slow(self) -> None:
        """Run any number of checks in the middle of the work."""
        while self.failure.startswith("local_slow") and self.half == "live" and self.either():
            self.check()

    def outer_commit(self) -> None:
        self.stop_at("crash_after_answer")
        self.stop_at("outer_commit_fails")
        self.database("kept")

    def ended(self) -> Outcome:
        """Return what is left once the half message is ended and the message consumed."""
        kept, commits = self.row == "kept", self.commits
        if self.half == "live":
            return "waiting"
        if kept != bool(commits):
            return "row_without_message" if kept else "message_without_row"
        if commits > 1:
            return "duplicate"
        if commits and self.failure == "consumer_fails_always":
            self.note("dead letter")
            return "waiting"
        if commits and self.failure == "consumer_fails_once":
            self.note("consumed again")
        return "consistent"


def _first(order: Order) -> None:
    if not order.send():
        return
    order.database("open")
    order.stop_at("crash_in_local")
    order.slow()
    if order.local_fails("business_exception", "outer_commit_fails"):
        order.database("undone")
        order.answer(order.local_answer)
        return
    order.database("kept")
    order.slow()
    order.stop_at("crash_before_answer")
    order.answer("UNKNOWN" if order.failure == "local_unknown" else "COMMIT")
    order.stop_at("crash_after_answer")


def _middle(order: Order) -> None:
    order.database("open")
    order.stop_at("business_exception")
    if order.send():
        order.slow()
        if order.local_fails():
            order.note("log row fails")
            order.answer(order.local_answer)
        else:
            order.log = "kept"
            order.note("log row written")
            order.stop_at("crash_in_local")
            order.slow()
            order.stop_at("crash_before_answer")
            order.answer("UNKNOWN" if order.failure == "local_unknown" else "COMMIT")
    order.stop_at("exception_after_send")
    order.outer_commit()


def _last(order: Order) -> None:
    order.database("open")
    order.stop_at("business_exception")
    if order.send():
        order.stop_at("crash_in_local")
        order.stop_at("crash_before_answer")
        order.answer(order.local_answer if order.failure in _LOCAL else order.given.last_answer)
    order.stop_at("exception_after_send")
    if order.failure.startswith("check_") and order.either():
        raise _Stopped
    order.slow()
    order.outer_commit()


def run(placement: Placement, failure: str, given: Assumptions, choose: Choose) -> Order:
    """Follow one path; `choose` picks among the possible continuations wherever timing or chance decides."""
    order = Order(placement, failure, given, choose)
    try:
        {"first": _first, "middle": _middle, "last": _last}[placement](order)
        order.stop_at("crash_at_end")
    except _Stopped:
        if order.row == "open":
            order.database("undone")
    while order.half == "live":
        # If the check never knows, somebody may look before its limit.
        if order.check() == "UNKNOWN" and order.half == "live" and order.either():
            break
    order.outcome = order.ended()
    return order


def paths(placement: Placement, failure: str, given: Assumptions | None = None) -> Iterator[Order]:
    """Yield the ends of all paths of one failure."""
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
    """Return one row for each placement and failure: `placement`, `failure`, `worst`, `outcomes` {outcome: shortest
    path}.

    A path is a tuple of keys of `STEPS`.
    """
    rows = []
    for placement in PLACEMENTS:
        for failure in failures:
            ends = sorted(paths(placement, failure, given), key=lambda end: len(end.path))
            shortest = {end.outcome: tuple(end.path) for end in reversed(ends)}
            outcomes = {outcome: shortest[outcome] for outcome in WORST if outcome in shortest}
            rows.append(
                {"placement": placement, "failure": failure, "worst": next(iter(outcomes)), "outcomes": outcomes}
            )
    return rows


def safe(placement: Placement, given: Assumptions = PUBLISHED_ASSUMPTIONS) -> bool:
    """Return whether no path of the published failures leaves a row without a message or a message without a row."""
    ends = (end for failure in DOCUMENTED[placement] for end in paths(placement, failure, given))
    return not any(end.outcome in BROKEN for end in ends)
