"""What a stop of a walk concludes from the rows of its answer."""

from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from table import rows_of

from kit.i18n import rendered
from kit.notebook.walks import walk

CASES = rows_of(__file__, "says")


@pytest.mark.parametrize("case", CASES, ids=[f"{n}-{each['walk']}-{each['stop']}" for n, each in enumerate(CASES)])
def test_a_stop_says_what_its_rows_show(spark: Any, case: dict[str, Any]) -> None:
    rows = pa.Table.from_pylist(case["rows"])
    said = rendered(walk(case["walk"])[case["stop"]].of(SimpleNamespace(session=spark), rows), "en")
    assert case["says"] in said
