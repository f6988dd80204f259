"""Collect the sentences of the code into the catalogues and say what is not translated: `python tools/texts.py [--check]`.

A sentence is every `T("…")` (and `T("…", "context")`) of the code, and what each known problem says; one that is gone leaves the catalogue, one that is new enters it
without a translation. `--check` writes nothing and fails where a catalogue does not match the code; `--release` fails where something is not translated.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).resolve().parents[1]
CATALOGUES = sorted((ROOT / "kit" / "locale").glob("*/LC_MESSAGES/kit.po"))
HEADER = ("Project-Id-Version", "Language", "Plural-Forms", "MIME-Version", "Content-Type", "Content-Transfer-Encoding")


def sentences() -> Iterator[tuple[str, str | None]]:
    """Yield (English text, context) of every sentence in the code."""
    for path in sorted((ROOT / "kit").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = getattr(node.func, "id", "") if isinstance(node, ast.Call) else ""
            if name == "Problem":
                yield from ((text, None) for text in of_problem(node))
            elif name == "T":
                texts = [arg.value for arg in node.args if isinstance(arg, ast.Constant)]
                if texts and texts[0]:
                    yield texts[0], (texts[1] or None) if len(texts) > 1 else None


def of_problem(node: ast.Call) -> Iterator[str]:
    """Yield the sentences of a known problem: by their places in `kit.rocketmq.known_problems.problem.Problem`."""
    named = [word.value for word in node.keywords if word.arg in ("decides", "remedy", "risk", "unlike")]
    for said in (node.args[1], *node.args[3:5], *named):
        yield ast.literal_eval(said)


def merged(kept: Catalog, wanted: list[tuple[str, str | None]]) -> Catalog:
    """Return the catalogue with exactly these sentences, sorted, translations kept."""
    made = Catalog(locale=kept.locale, header_comment=kept.header_comment, fuzzy=False)
    for text, context in wanted:
        old = kept.get(text, context)
        flags = ["python-brace-format"] if "{" in text else []
        made.add(text, old.string if old else "", context=context, flags=flags)
    return made


def main() -> int:
    """Update or check each catalogue; print what is not translated."""
    wanted = sorted(set(sentences()), key=lambda each: (each[0], each[1] or ""))
    stale = missing = 0
    for path in CATALOGUES:
        with path.open("rb") as file:
            kept = read_po(file, locale=path.parts[-3])
        made = merged(kept, wanted)
        missing += sum(not m.string for m in made if m.id)
        for message in made:
            if message.id and not message.string:
                print(f"{path.parts[-3]}: not translated: {message.id!r}")
        gone = {(m.id, m.context) for m in kept if m.id} ^ {(m.id, m.context) for m in made if m.id}
        stale += len(gone)
        if "--check" not in sys.argv:
            write(path, made)
    print(f"{len(wanted)} sentences, {missing} not translated, {stale} new or gone")
    return int(bool("--check" in sys.argv and stale) or bool("--release" in sys.argv and missing))


def write(path: Path, catalogue: Catalog) -> None:
    """Write a catalogue whose lines change only where its sentences do."""
    from io import BytesIO

    buffer = BytesIO()
    write_po(buffer, catalogue, width=0, sort_output=True, no_location=True)
    head, *entries = buffer.getvalue().decode().split("\n\n")
    lines = [line for line in head.split("\n") if not line.startswith('"') or line[1:].startswith(HEADER)]
    path.write_text("\n\n".join(["\n".join(lines), *entries]), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
