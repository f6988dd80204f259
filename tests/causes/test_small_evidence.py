"""A few lines and what they show: a row of `evidence/*.yaml` is a folder of text files and what is asked of it.

- `files`: {name: lines}. `{3: line}` is a line three times, `{00..40/20: line <n>}` one for 00, 20 and 40; several lines in a list come as a block.
- `stores`: {file of a commit log: rows of `store_rows`}; `<id KEY>` in a line is the offset id of a record in one of them. `declared`: zones. `changed`: {file: s since 1970}.
- `shows`: {cause: verdict}, or {cause: {verdict, figures, steps, claims, quotes, asks, says, unsaid, nowhere, advises, window}}: figures and steps that are named, words of a step's claim and of the
  lines it quotes, of what is asked for ("" for anything), words its summary must have or not, words that stand nowhere in the finding, words of its first remedy (`advises`, "": it has none).
  `problems`: {known problem: verdict}, all that are found. `weighed`: by how large the evidence is.
- `why`: where RocketMQ's sources say so.
"""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import store_rows
from folders import opened, written

from kit import causes
from kit.causes import known_problems, shown_by
from kit.causes.findings import Finding
from kit.causes.triage import plain
from kit.i18n import LANGS

ROWS = [
    pytest.param(row, id=f"{path.stem}: {row['name']}")
    for path in sorted((Path(__file__).parent / "evidence").glob("*.yaml"))
    for row in msgspec.yaml.decode(path.read_bytes())
]


def lines(items: list[Any]) -> Iterator[str]:
    """Write out what a row says in short."""
    for item in items:
        if isinstance(item, str):
            yield item
            continue
        ((times, block),) = item.items()
        for n in counted(str(times)):
            yield from (line.replace("<n>", n) for line in ([block] if isinstance(block, str) else block))


def counted(times: str) -> list[str]:
    """Return the numbers of `00..40/20` in as many digits as the first has, `n` times nothing of `n`."""
    if ".." not in times:
        return [""] * int(times)
    first, _, rest = times.partition("..")
    last, _, step = rest.partition("/")
    return [str(n).zfill(len(first)) for n in range(int(first), int(last) + 1, int(step or 1))]


def check(found: Finding, expected: Any) -> None:
    wanted = {"verdict": expected} if isinstance(expected, str) else expected
    assert found.verdict == wanted["verdict"]
    figures = plain(found.figures)
    assert {name: figures[name] for name in wanted.get("figures", {})} == wanted.get("figures", {})
    steps = {step.id: step.holds for step in found.steps}
    assert {name: steps.get(name, "absent") for name in wanted.get("steps", {})} == wanted.get("steps", {})
    claims = {step.id: step.claim.render() for step in found.steps}
    assert all(words in claims[name] for name, words in wanted.get("claims", {}).items())
    quoted = {step.id: " ".join(ref.text for ref in step.evidence) for step in found.steps}
    assert all(words in quoted[name] for name, words in wanted.get("quotes", {}).items())
    window = found.window and [at.isoformat() for at in found.window]
    assert window == wanted.get("window", window)
    asked = " ".join(f"{each.artefact.render()} {each.command} {each.why.render()}" for each in found.missing)
    assert all(words in asked and asked for words in wanted.get("asks", ()))
    advised = [remedy.action.render("en") for remedy in found.remedies[:1]] if "advises" in wanted else []
    assert [wanted["advises"] in each for each in advised] == [True] * bool(wanted.get("advises"))
    assert wanted.get("says", "") in found.shown_summary.render("en")
    assert "unsaid" not in wanted or wanted["unsaid"] not in found.summary.render("en")
    for words in wanted.get("nowhere", ()):
        assert words not in json.dumps([plain(found.as_dict(lang)) for lang in LANGS], ensure_ascii=False)


@pytest.mark.parametrize("row", ROWS)
def test_it_shows_what_it_shows(row: dict[str, Any], tmp_path: Path) -> None:
    stores, ids = {}, dict[str, str]()
    for name, rows in row.get("stores", {}).items():
        stores[name], each = store_rows.segment(int(Path(name).name), rows)
        ids = each | ids
    files = {name: "".join(f"{line}\n" for line in lines(items)) for name, items in row.get("files", {}).items()}
    files = {name: re.sub("<id (.*?)>", lambda key: ids[key[1]], text) for name, text in files.items()}
    folder = written(tmp_path, files | stores)
    for name, seconds in row.get("changed", {}).items():
        os.utime(folder / name, (seconds, seconds))
    facts = opened(tmp_path, {}, **row.get("declared", {})).facts
    if "problems" in row:
        assert {found.cause: found.verdict for found in known_problems.examine(facts)} == row["problems"]
    for slug, expected in row.get("shows", {}).items():
        found = causes.examine(facts, slug)
        check(shown_by.weighed(facts, found) if row.get("weighed") else found, expected)


def test_short_forms_are_written_out() -> None:
    items = ["a", {2: "b"}, {"08..12/2": ["c <n>", "d"]}]
    assert list(lines(items)) == ["a", "b", "b", "c 08", "d", "c 10", "d", "c 12", "d"]


@pytest.mark.parametrize(("year", "verdict"), [("2025", "suspected"), ("2026", "confirmed")])
def test_a_mail_does_not_confirm_what_it_quotes_of_last_year(year: str, verdict: str, tmp_path: Path) -> None:
    mail = (
        "Hi all, we had this before:\n"
        f"{year}-11-14 10:00:01.253 [http-1] ERROR c.a.Sender - send failed: CODE: 2  DESC: [TIMEOUT_CLEAN_QUEUE]broker busy, "
        "start flow control for a while, period in queue: 200ms, size of queue: 1\n"
        "Today something else is wrong:\n2026-11-20 09:12:01.003 [http-7] ERROR c.a.Sender - no stock\n"
    )
    facts = opened(tmp_path, {"mail.txt": mail}).facts
    busy = shown_by.weighed(facts, causes.examine(facts, "broker-busy"))
    assert busy.verdict == verdict
    assert ("370 days older" in busy.summary.render()) == (year == "2025")
