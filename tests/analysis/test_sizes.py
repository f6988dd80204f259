"""What a broker's own log says of sizes, where it was rolled and its oldest files are gone."""

import pandas as pd
import pytest

from kit.analysis import sizes


def test_rolled_logs_are_said_so():
    def at(second):
        return pd.Timestamp("2024-05-14 02:00:00") + pd.Timedelta(seconds=second)

    files = [("2.gz", at(0), at(9), 82, 500), ("1.gz", at(9), at(20), 1, 900), ("log", at(27), at(30), 1, 600)]
    rows = pd.DataFrame(files, columns=["file", "first", "last", "line", "count"]).assign(event="put-back-failed")
    assert sizes.rolled(rows) == (False, 7)
    assert sizes.rolled(rows.iloc[1:2]) == (True, 0)
    assert sizes.rate(rows) == pytest.approx(2000 / 31, abs=0.1)
