"""What `explain` says about pastes as people write them, and what their own words tell."""

import pastes
import pytest
from pastes import Paste

from kit.explanation import context
from kit.explanation.explain import explain


@pytest.mark.parametrize("paste", pastes.EVERY, ids=lambda paste: paste.name)
def test_its_lines_and_ids_are_recognised_and_its_words_understood(paste: Paste) -> None:
    """Ids that are held against each other, and checks that overtake the local transaction."""
    rows = explain(paste.text)
    slugs = {row["slug"] for row in rows}
    assert set(paste.slugs) <= slugs
    assert {row["text"] for row in rows if row["kind"] == "id"} == set(paste.ids)
    assert (context.mixed(paste.text) is not None) == (paste.causes.get(pastes.IDENTITY) == "suspected")
    overtaken = paste in pastes.OVERTAKEN and pastes.CONSISTENCY in paste.causes and "exception" not in paste.name
    assert bool(context.overtaken(paste.text)) == ("check-overtakes-local" in slugs) == overtaken


def test_the_lines_quoted_are_those_with_the_ids() -> None:
    found = context.mixed(f"a\n\n> {pastes.UNIQ}\n<br>b<br>x {pastes.OFFSET} why")
    assert found is not None and (found.at, found.offset_ids, found.uniq_keys) == ((3, 4), 1, 1)


@pytest.mark.parametrize(
    ("text", "speaks"),
    [
        (pastes.UNIQ, True),
        (pastes.OFFSET.lower(), True),
        ("checkLocalTransaction during the local transaction", True),
        ("0123456789abcdef0123456789abcdef  archive.zip", False),
        ("a shopping list", False),
    ],
)
def test_text_that_has_something_to_explain(text: str, speaks: bool) -> None:
    assert context.speaks(text) is speaks


def test_lines_of_a_clients_log_compare_no_ids() -> None:
    printed = (
        f"2026-11-22 07:50:22,022 WARN RocketmqClient - Message{{topic='orders', flag=0, properties={{UNIQ_KEY={pastes.UNIQ}, WAIT=true}}, body=[123], transactionId='null'}}\n"
        f"2026-11-22 07:50:23,023 INFO RocketmqClient - send expire msg back. topic=orders, msgId={pastes.OFFSET}, queueId=0\n"
    )
    assert context.mixed(printed) is None
    assert context.mixed(printed + "why are these different?\n") is not None
