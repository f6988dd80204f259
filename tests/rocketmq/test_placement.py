"""The placement model: the published verdicts, where they stop holding, and every path the recordings show."""

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from table import rows_of

from kit.rocketmq import placement as model
from kit.rocketmq.placement import FAILURES, PLACEMENTS, Assumptions, paths, table


@pytest.mark.parametrize(("placement", "failure", "assumptions", "outcomes"), rows_of(__file__, "outcomes"))
def test_what_a_failure_leaves(placement, failure, assumptions, outcomes):
    assert {end.outcome for end in paths(placement, failure, Assumptions(**assumptions))} == set(outcomes)


@pytest.mark.parametrize(("placement", "assumptions", "holds"), rows_of(__file__, "safe"))
def test_the_published_verdicts(placement, assumptions, holds):
    assert model.safe(placement, Assumptions(copies_apart=False, **assumptions)) is holds


@pytest.mark.parametrize(("placement", "failure", "worst"), rows_of(__file__, "beyond"))
def test_where_the_published_verdicts_stop_holding(placement, failure, worst):
    (row,) = [row for row in table(failures=[failure]) if row["placement"] == placement]
    assert row["worst"] == worst and failure not in model.DOCUMENTED[placement]


def test_the_table_is_whole():
    rows = table()
    assert {(row["placement"], row["failure"]) for row in rows} == {(p, f) for p in PLACEMENTS for f in FAILURES}
    assert {row["worst"] for row in rows} <= set(model.OUTCOMES)


assumptions = st.builds(
    Assumptions,
    no_row=st.sampled_from(["ROLLBACK", "UNKNOWN"]),
    last_answer=st.sampled_from(["COMMIT", "UNKNOWN"]),
    **dict.fromkeys(["looks_at_status", "copies_apart"], st.booleans()),
)


@given(st.sampled_from(PLACEMENTS), st.sampled_from(sorted(FAILURES)), assumptions, st.data())
def test_no_path_ends_outside_the_table(placement, failure, given_, data):
    end = model.run(placement, failure, given_, lambda options: data.draw(st.sampled_from(list(options))))
    row = next(row for row in table(given_, [failure]) if row["placement"] == placement)
    assert end.outcome in row["outcomes"] and set(end.path) <= set(model.STEPS)
    # What the outcome says is what is left.
    row_kept, settled = end.row == "kept", end.half != "live"
    assert (end.outcome in model.BROKEN) == (settled and row_kept != (end.commits > 0))
    assert end.outcome != "message_without_row" or not row_kept
    assert end.path.count("committed") == end.commits


ON_DISK = {
    "half stored": "half", "check COMMIT": "half", "check ROLLBACK": "half", "check UNKNOWN": "half",
    "committed": "commit", "discarded": "discard",
}  # fmt: skip


@cache
def model_paths(placement):
    """Every (history on disk, row kept) of the model, for the applications that were recorded."""
    return frozenset(
        (tuple(ON_DISK[step] for step in end.path if step in ON_DISK), end.row == "kept")
        for no_row in ("ROLLBACK", "UNKNOWN")
        for last in ("COMMIT", "UNKNOWN")
        for failure in FAILURES
        for end in paths(placement, failure, Assumptions(no_row=no_row, last_answer=last))
    )


@pytest.mark.parametrize(("placement", "history", "kept"), rows_of(__file__, "recorded"))
def test_every_recorded_path_is_a_path_of_the_model(placement, history, kept):
    assert (tuple(history), kept) in model_paths(placement)
