"""The placement of the half message in the business code, and what every failure then leaves.

Three placements. *first*: everything inside executeLocalTransaction. *middle*: the order in an outer database transaction, the log row inside
executeLocalTransaction. *last*: order, log row and send in one database transaction, the answer given at once (COMMIT) or left to the check
(UNKNOWN). `kit.rocketmq.models.transaction_model` computes each path.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from kit.i18n import Sentence, T
from kit.rocketmq.models.transaction_model import NOT_OK, STEPS, Assumptions, End, Outcome, Placement, run

PLACEMENTS: Final[tuple[Placement, ...]] = ("first", "middle", "last")
OUTCOMES: Final[dict[Outcome, T]] = {
    "consistent": T("consistent"),
    "row_without_message": T("row without message"),
    "message_without_row": T("message without row"),
    "waiting": T("waiting"),
    "duplicate": T("duplicate"),
}
WORST: Final[tuple[Outcome, ...]] = ("message_without_row", "row_without_message", "duplicate", "waiting", "consistent")
BROKEN: Final = {"message_without_row", "row_without_message"}

FAILURES: Final[dict[str, T]] = {
    "none": T("nothing fails"),
    "business_exception": T("business exception"),
    "exception_after_send": T("business exception after the send"),
    "send_throws": T("send throws"),
    "flush_disk_timeout": T("send returns FLUSH_DISK_TIMEOUT"),
    "flush_slave_timeout": T("send returns FLUSH_SLAVE_TIMEOUT"),
    "slave_not_available": T("send returns SLAVE_NOT_AVAILABLE"),
    "local_throws": T("executeLocalTransaction throws"),
    "local_swallows": T("executeLocalTransaction fails but returns COMMIT"),
    "local_rollback": T("executeLocalTransaction returns ROLLBACK"),
    "local_unknown": T("executeLocalTransaction returns UNKNOW"),
    "local_slow": T("the local transaction outlasts the transaction timeout"),
    "local_slow_answer_lost": T("slow, and its late answer is lost or refused"),
    "outer_commit_fails": T("the outer database commit fails"),
    "commit_lost": T("the answer is lost"),
    "op_late": T("checked before the op record is written (5.1+)"),
    "crash_before_send": T("crash before the send"),
    "crash_after_send": T("crash after the send"),
    "crash_in_local": T("crash within the local transaction"),
    "crash_before_answer": T("crash after the local transaction, before the answer"),
    "crash_after_answer": T("crash after the answer, before the outer commit"),
    "crash_at_end": T("crash after everything"),
    "check_commit": T("the check always answers COMMIT"),
    "check_rollback": T("the check always answers ROLLBACK"),
    "check_unknown": T("the check always answers UNKNOW"),
    "check_other_application": T("another application of the group answers the check"),
    "consumer_fails_once": T("the consumer fails once"),
    "consumer_fails_always": T("the consumer fails until the dead letter queue"),
}
_PUBLISHED: Final = ("none", "business_exception", "send_throws", *NOT_OK, "commit_lost", "consumer_fails_once")
DOCUMENTED: Final[dict[Placement, tuple[str, ...]]] = {
    "first": (*_PUBLISHED, "local_throws", "local_rollback", "local_unknown"),
    "middle": (*_PUBLISHED, "local_throws", "local_rollback", "local_unknown"),
    "last": _PUBLISHED,
}
"""Failures in the published comparison of the placements; with the half message last nothing local can fail."""
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
            rows.append(
                {
                    "placement": placement,
                    "failure": failure,
                    "text": FAILURES[failure],
                    "worst": next(iter(ordered)),
                    "outcomes": ordered,
                }
            )
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
