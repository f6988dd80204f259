"""Places of the evidence that could not be read: a command then ends with exit code 3."""

import re
from collections import Counter
from collections.abc import Iterator
from shlex import quote
from typing import Any, Final

import attrs

from kit.case.case import Case
from kit.evidence.files import beginning
from kit.i18n import labels

SAYS: Final = labels("case")["unreadable"]
LARGE: Final = r"^\s*[+-]?([0-9]{10,}|[0-9]+([.][0-9]*)?[eE][+]?[0-9]+)([.][0-9]*)?\s*$"
"""A number that needs more than 32 bits; whether it fits 64 says the column, which is null where it does not."""

HEAD: Final = 4096
DOWNLOAD: Final = re.compile(rb'\[\{|\{.{0,2000}?(?P<hits>"hits" ?: ?\{)')
"""Begins what Grafana and Elasticsearch write all entries of a search to."""


@attrs.frozen
class Damage:
    """A place of the evidence that could not be read. `label`: of its sentence; `start`, `end`: bytes, None: all of it."""

    file: str
    label: str
    sentence: str
    start: int | None = None
    end: int | None = None


def of(case: Case) -> list[Damage]:
    """Return which parts of the evidence are truncated, corrupt or unreadable, in order of file."""

    def damage(label: str, **values: Any) -> Damage:
        sentence = SAYS[label].say(**values).render(case.lang)
        return Damage(values["file"], label, sentence, values.get("start"), values.get("end"))

    lost, with_records = [damage(r["reason"], **r) for r in case.facts.rows("unread_ranges")], case.has_read("messages")
    if with_records:
        lost += [damage("records", **row) for row in case.facts.rows("damaged_records")]
    lost += [damage("disagree", file=file, other=other) for file, other in case.unzoned.disagree]
    if with_records and case.has_read("logs"):
        # Stores of brokers that the logs do not show, and of several with one name, if a command read both.
        lost += [damage("foreign", **row) for row in case.facts.rows("foreign_stores")]
        lost += [damage("same_name", **row) for row in case.facts.rows("same_names")]
    lost += [damage("one_line", file=file, path=path, quoted=quote(file)) for file, path in _one_line(case)]
    lost += [damage("values", file=file, count=count) for file, count in _out_of_range(case).items()]
    case.folder("config_files")  # all else that may be unread was read above
    lost += [damage("not_read", file=each.file, why=each.say(case.lang)) for each in case.unread()]
    return sorted(lost, key=lambda d: (d.file, d.start or 0, d.label))


def _one_line(case: Case) -> Iterator[tuple[str, str]]:
    """Yield the downloads of logs that are one line of JSON, and where their entries stand in it: they are not read."""
    for item in case.unzoned.of_kind("text", replicas=False):
        head = beginning(item.path, HEAD).strip()
        if b"\n" not in head and (known := DOWNLOAD.match(head)):
            yield item.file, ".hits.hits[]" if known["hits"] else ".[]"


def _out_of_range(case: Case) -> dict[str, int]:
    """Return how many times and numbers of each file are out of range, and so null in the tables."""
    counts = Counter({row["file"]: row["n"] for row in case.facts.rows("values_out_of_range")})
    for table, field in (("rows", "reconsume_times"), ("sends", "cost_ms")):
        for item in case.unzoned.of_kind(table, replicas=False):
            if column := item.detail.get("columns", {}).get(field):
                large = f"select count(*) as n from {table} where file = :file and {field} is null and cells[:column] rlike :large"
                row = case.sql(large, file=item.file, column=column, large=LARGE).first()
                counts[item.file] += row.n if row else 0
    return {file: n for file, n in counts.items() if n}
