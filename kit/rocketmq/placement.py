"""Where a service sends its half message, and what each failure then leaves: the rows of `facts/placement.yaml`."""

from typing import Final, Literal

from kit import data
from kit.i18n import T

Placement = Literal["first", "middle", "last"]
Outcome = Literal["consistent", "row_without_message", "message_without_row", "waiting", "duplicate"]
PLACEMENTS: Final[tuple[Placement, ...]] = ("first", "middle", "last")
BROKEN: Final = ("row_without_message", "message_without_row")


class Failure(data.Row, frozen=True):
    """What can fail, and the worst that it leaves with the half message `first`, in the `middle` and `last`."""

    says: T
    first: Outcome = "consistent"
    middle: Outcome = "consistent"
    last: Outcome = "consistent"
    published: tuple[Placement, ...] = ()
    by_status: bool = False


OUTCOMES: Final = data.read("rocketmq/facts/placement.yaml", dict[Outcome, T], "outcomes")
FAILURES: Final = data.read("rocketmq/facts/placement.yaml", dict[str, Failure], "failures")


def unsafe(*, looks_at_status: bool) -> list[Placement]:
    """Return the placements in which a published failure leaves a row without a message, or a message without a row."""
    left = {
        place
        for failure in FAILURES.values()
        for place in failure.published
        if getattr(failure, place) in BROKEN and not (looks_at_status and failure.by_status)
    }
    return [place for place in PLACEMENTS if place in left]
