"""What follows from the answer of a stop: `<walk>.yaml` has its sentences, and the query over the rows of the answer
(`answer`, with `nth` from 0 for their order) that says which of them it calls for, and with what numbers.
"""

import functools
from typing import Any, Final

import msgspec
import pandas as pd
import pyarrow as pa
from pyspark.errors import PySparkException

from kit import data
from kit.case.case import Case
from kit.causes import collect_next, shown_by
from kit.i18n import Sentence, T, labels
from kit.tables import frames
from kit.tables.runner import collect, local

WORDS: Final = labels("notebook")["walk words"]
"""Parts of sentences, by their names in the walks."""
SO = T("So: {sentence}", "所以：{sentence}")
ABSENT = T("Not answered by this evidence. What would: {needs}.", "这份证据答不出来。能回答的是：{needs}。")
OR = T("{one}, or {other}", "{one}，或{other}")
ASKED_AS: Final = {**shown_by.REQUESTED_AS, "look-ups": "look-up"}
NOTHING = T("This evidence has no row that answers this.", "这份证据中没有能回答它的行。")
NO_ROW = T("no row of this evidence answers this.", "证据中没有能回答它的行。")
OTHER_COLUMNS = T("The query has other columns now: read the answer yourself.", "查询的列已改变：请自行阅读结果。")


class Stop(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What follows from an answer: what it rules out, what to ask next.

    `shown_by`: the evidence in which the answer would be seen, as of the steps of causes; `nothing`: what no rows say
    in such evidence. `needs`: the evidence without which rows are no answer. `says`: the sentences for rows; `so`: the
    query whose only row has the name of one in its column `says`, if there are several (`nothing`: they say no more
    than no rows do; `absent`: they do not answer), and in the others what fills it.
    """

    says: dict[str, T]
    nothing: T = NO_ROW
    shown_by: str = "commitlog"
    so: str = ""
    needs: str = ""

    def answers(self, case: Case) -> bool:
        return not self.needs or shown_by.has(case.facts, self.needs)

    def of(self, case: Case, rows: pa.Table | pd.DataFrame) -> Sentence:
        says = "nothing"
        if not self.answers(case):
            return _absent(case, self.needs)
        if len(rows):
            try:
                values = _filled(case, self.so, rows) if self.so else {}
                says = values.pop("says", next(iter(self.says)))
                if says in self.says:
                    return SO.say(sentence=self.says[says].say(**values))
            except (PySparkException, LookupError, pa.ArrowException):
                return OTHER_COLUMNS
        if says == "nothing" and shown_by.shows_absence(case.facts, self.shown_by):
            return SO.say(sentence=self.nothing)
        return _absent(case, self.shown_by)


def _absent(case: Case, evidence: str) -> Sentence:
    every = [names for names in shown_by.lacking(case.facts, evidence) if names] or shown_by.alternatives(evidence)[:1]
    wanted: list[Any] = [[collect_next.ARTEFACTS[ASKED_AS.get(name, name)].what for name in names] for names in every]
    return ABSENT.say(needs=functools.reduce(lambda one, other: OR.say(one=one, other=other), wanted))


def _filled(case: Case, so: str, rows: pa.Table | pd.DataFrame) -> dict[str, Any]:
    table = rows if isinstance(rows, pa.Table) else pa.Table.from_pandas(rows, preserve_index=False)
    numbered = table.append_column("nth", pa.array(range(len(rows))))
    local(case.session, numbered).createOrReplaceTempView("answer")
    [row] = frames.rows(collect(case.tables.sql(so)))
    return {name: _value(value) for name, value in row.items()}


def _value(value: Any) -> Any:
    """Return a value as sentences take it: what has a `word` is that one of `WORDS`, filled with the rest."""
    if isinstance(value, list):
        return [_value(each) for each in value]
    if isinstance(value, dict):
        word = value.pop("word")
        return WORDS[word].say(**{name: _value(each) for name, each in value.items()}) if word in WORDS else word
    return int(value) if isinstance(value, float) and value.is_integer() else value


@functools.cache
def walk(name: str) -> dict[str, Stop]:
    return data.read(f"notebook/walks/{name}.yaml", dict[str, Stop])
