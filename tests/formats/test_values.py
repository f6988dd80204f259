"""What a column can hold, and what becomes of all else. Expected values are arithmetic and Java's ranges."""

import datetime as dt
import math

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from table import rows_of

from kit.formats import printed_times, values


@pytest.mark.parametrize(("value", "bits", "expected"), rows_of(__file__, "integers") + [("9" * 5000, 64, None)])
def test_integer(value, bits, expected):
    assert values.integer(value, bits) == expected


@pytest.mark.parametrize(("text", "expected"), rows_of(__file__, "numbers_lose_their_fraction"))
def test_numbers_lose_their_fraction(text, expected):
    assert values.truncated(text) == expected


MAP = pa.map_(pa.string(), pa.string())
SCHEMA = pa.schema([("n", pa.int32()), ("t", pa.timestamp("us", "UTC")), ("s", pa.string()), ("m", MAP)])
ODD = st.sampled_from([None, "\ud800", [("a", "\udfff")]])
TEXTS = st.one_of(st.binary(max_size=4), st.text(st.characters(), max_size=4))
ANYTHING = st.one_of(ODD, st.integers(), st.floats(), st.booleans(), TEXTS)


@given(st.lists(st.fixed_dictionaries(dict.fromkeys(SCHEMA.names, ANYTHING)), max_size=5))
def test_a_batch_of_anything(rows):
    made = values.batch(rows, SCHEMA)
    assert made.schema == SCHEMA and made.num_rows == len(rows)
    for text in made.column("s").to_pylist():
        assert text is None or text.encode().decode() == text


def test_only_what_does_not_fit_is_lost_and_which_years_nanoseconds_count():
    rows = [{"n": 1, "t": 0, "s": "a", "m": [("k", "v")]}, {"n": 2**31, "t": 2**64, "s": "\ud800", "m": None}]
    assert values.batch(rows, SCHEMA).to_pylist() == [
        {"n": 1, "t": dt.datetime(1970, 1, 1, tzinfo=dt.UTC), "s": "a", "m": [("k", "v")]},
        {"n": None, "t": None, "s": "\\ud800", "m": None},
    ]
    epoch = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - arithmetic only
    ms = [(dt.datetime(year, 1, 1) - epoch) // dt.timedelta(milliseconds=1) for year in (1677, 1678, 2261, 2262, 9999)]  # noqa: DTZ001
    assert [printed_times.instant(m) is not None for m in ms] == [False, True, True, False, False]
    assert printed_times.instant(1e30) is printed_times.instant(math.nan) is printed_times.instant(math.inf) is None
