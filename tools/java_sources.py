"""The texts that Java sources log at WARN or ERROR, answer as a remark or throw, as templates with `{}` for every value."""

from __future__ import annotations

import itertools
import re
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import attrs

from kit.rocketmq.catalogue import BY_CLASS, event_in, problems_in

VALUE: Final = "{}"
SHORTEST: Final = 8
"""Bytes of the longest piece of a template that is worth keeping."""
_CALLS: Final = (
    (re.compile(r"\b\w*(?:log|LOG|Log|LOGGER|logger|Logger)(?:_ERROR)?\.(warn|error)\s*\("), None),
    (re.compile(r"\.(?:setRemark|remark)\s*\("), "REMARK"),
    (re.compile(r"\bbuildErrorResponse\s*\("), "REMARK"),
    (
        re.compile(
            r"\bnew\s+(?:org\.apache\.rocketmq\.[\w.]+\.)?(?:MQ|Remoting|Acl|Proxy|Validat|Authenti|Authoriz|Store|ConsumeQueue|Runtime|IllegalArgument|IllegalState|IO|Request|GrpcProxy|TieredStore)\w*Exception\s*\("
        ),
        "THROW",
    ),
)
_STRING: Final = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
_PRINTF: Final = re.compile(r"%(?:\d+\$)?[-#+ 0,(]*\d*(?:\.\d+)?[a-zA-Z]")
_CONSTANT: Final = re.compile(r'\bString\s+([A-Z][A-Z0-9_]+)\s*=\s*((?:"(?:[^"\\\n]|\\.)*"\s*\+?\s*)+);')


@attrs.frozen
class Call:
    """One call: where (module, class, line), how (`WARN`, `ERROR`, `REMARK`, `THROW`) and the template ("" where no literal is in it)."""

    module: str
    cls: str
    line: int
    level: str
    template: str


def calls(module: str, name: str, source: str) -> Iterator[Call]:
    """Yield the calls of one source file, in order of the patterns."""
    text = _without_comments(source)
    constants = {m[1]: "".join(_STRING.findall(m[2])) for m in _CONSTANT.finditer(text)}
    for pattern, level in _CALLS:
        for found in pattern.finditer(text):
            arguments = _arguments(text, found.end())
            kind = level or found[1].upper()
            yield Call(module, name, text.count("\n", 0, found.start()) + 1, kind, template(arguments, constants, kind))


def template(arguments: list[str], constants: dict[str, str], kind: str) -> str:
    """Return the template of the first argument that holds a literal; values are `{}`."""
    for argument in arguments if kind in ("REMARK", "THROW") else arguments[:1]:
        if not (_STRING.search(argument) or any(c in constants for c in re.findall(r"\b[A-Z][A-Z0-9_]+\b", argument))):
            continue
        return _joined(argument, constants)
    return ""


def _joined(expression: str, constants: dict[str, str]) -> str:
    inner = re.match(r"\s*(?:String\.format|MessageFormat\.format)\s*\(", expression)
    if inner:
        parts = _arguments(expression, inner.end())
        literal = _joined(parts[0], constants) if parts else ""
        return re.sub(r"(?:\{\})+", VALUE, _PRINTF.sub(VALUE, literal).replace("%n", ""))
    out, depth = [], 0
    for token in re.finditer(r'"(?:[^"\\\n]|\\.)*"|[()]|\b[A-Z][A-Z0-9_]+\b(?!\s*[.(])|[^()"A-Z]+|.', expression):
        piece = token[0]
        if piece == "(":
            depth += 1
            out.append(VALUE)
        elif piece == ")":
            depth -= 1
        elif depth > 0:
            continue
        elif piece.startswith('"') and len(piece) > 1:
            out.append(_unescaped(piece[1:-1]))
        elif piece in constants:
            out.append(constants[piece])
        elif piece.strip(" +\n\t"):
            out.append(VALUE)
    joined = "".join(out)
    if re.search(r"%[sd]", joined):
        joined = _PRINTF.sub(VALUE, joined)
    return re.sub(r"(?:\{\d*\})+", VALUE, joined).replace("\n", " ").replace("\t", " ").strip()


def _unescaped(literal: str) -> str:
    return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t", "r": ""}.get(m[1], m[1]), literal)


def _arguments(text: str, start: int) -> list[str]:
    """Split the arguments of a call whose opening bracket ends at `start`."""
    depth, at, parts, begun = 1, start, [], start
    while at < len(text) and depth:
        c = text[at]
        if c == '"':
            literal = _STRING.match(text, at)
            at = literal.end() if literal else at + 1
            continue
        if c == "'":
            at = text.find("'", at + (3 if text[at + 1 : at + 2] == "\\" else 1)) + 1 or len(text)
            continue
        if c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif c == "," and depth == 1:
            parts.append(text[begun:at])
            begun = at + 1
        at += 1
    parts.append(text[begun : at - 1])
    return parts


def _without_comments(source: str) -> str:
    """Blank comments out, keeping the line numbers."""

    def blank(found: re.Match[str]) -> str:
        return found[0] if found[0].startswith(('"', "'")) else re.sub(r"[^\n]", " ", found[0])

    return re.sub(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)\'|//[^\n]*|/\*.*?\*/', blank, source, flags=re.S)


def folder(root: Path) -> Iterator[Call]:
    """Yield the calls of a source tree: `<module>/src/main/java/org/apache/rocketmq/…`."""
    for path in sorted(root.glob("*/src/main/java/**/*.java")):
        parts = path.relative_to(root).parts
        yield from calls(parts[0], path.stem, path.read_text(encoding="utf-8", errors="replace"))


def jars(paths: Iterable[Path]) -> Iterator[Call]:
    """Yield the calls of sources jars named `rocketmq-<module>-<release>-sources.jar`."""
    for path in sorted(paths):
        named = re.match(r"rocketmq-([a-z-]+?)-\d", path.name)
        module = named[1].replace("-", "") if named else path.stem
        with zipfile.ZipFile(path) as jar:
            for name in sorted(n for n in jar.namelist() if n.endswith(".java")):
                yield from calls(module, Path(name).stem, jar.read(name).decode("utf-8", "replace"))


def releases(roots: dict[str, Iterable[Call]]) -> dict[tuple[str, str, str], list[str]]:
    """Return {(module/Class, level, template): releases that have it}; `roots` by release, oldest first."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for release, every in roots.items():
        for call in every:
            if call.template and max(len(piece.encode()) for piece in call.template.split(VALUE)) >= SHORTEST:
                had = found.setdefault((f"{call.module}/{call.cls}", call.level, call.template), [])
                if release not in had:
                    had.append(release)
    return found


MODULES: Final = ("broker", "client", "common", "controller", "namesrv", "proxy", "remoting", "store")
HEAVIEST_LEFT_OUT: Final = 20
"""Characters of text up to which a template is ordinary English."""
NEW_IN_5: Final = "5.0.0"
"""A text that is there since 5.0.0, or whose class is, says no more than that the broker is of 5.x."""
DATED: Final = ("broker/", "store/")
"""Whose texts tell since which release a paste is (`explain.releases_of`); what is printed no more tells it of all."""


def merged(one: str, other: str) -> str:
    """Return what two texts have in common at both ends, a value between them; "" if it begins like many a text, or is
    less than half of one.
    """
    one_parts, other_parts = (re.findall(r"\w+|\W", text) for text in (one, other))
    begin = _shared(one_parts, other_parts)
    end = _shared(one_parts[len(begin) :][::-1], other_parts[len(begin) :][::-1])[::-1]
    both = "".join(begin) + VALUE + "".join(end)
    both = re.sub(r"(\{\})(?:[\W_]*\{\})+$|(?:\{\}){2,}", VALUE, both)
    weight = min(map(_weight, (one, other)))
    own = len("".join(begin)) >= SHORTEST and max(HEAVIEST_LEFT_OUT + 2, weight / 2) < _weight(both)
    return both if own else ""


def _shared(one: list[str], other: list[str]) -> list[str]:
    pairs = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return [part for part, _ in pairs]


def families(texts: list[str]) -> list[str]:
    """Return texts of one class, level and span of releases, those that differ in one part as one."""
    every: list[str] = []
    for text in texts:
        alike = next((n for n, each in enumerate(every) if merged(each, text)), None)
        if alike is None:
            every.append(text)
        else:
            every[alike] = merged(every[alike], text)
    return every


def _weight(text: str) -> int:
    return sum(map(len, _pieces(text)))


def table(found: dict[tuple[str, str, str], list[str]], oldest: str, newest: str) -> str:
    """Return the rows of format_strings.tsv, one a text: each WARN and ERROR text that is no answer or exception as well, and that either no
    known text names and a problem explains by its class (a routine one only errors of the newest release, one of clients, proxies, controllers
    and name servers no warnings), or that tells the releases of a broker apart and is no routine.
    """
    seen: dict[str, str] = {}
    for cls, level, text in found:
        release = min(found[cls, level, text], key=_number)
        seen[cls] = min(seen.get(cls, release), release, key=_number)
    # Of texts that differ only in values behind their last piece a line does not say which it is.
    by_pieces: dict[tuple[str, ...], list[tuple[str, str, str]]] = {}
    for call in sorted(found):
        by_pieces.setdefault(_pieces(call[2]), []).append(call)
    known_of, unknown = (dict[tuple[str, str, str, str], list[str]]() for _ in range(2))
    for places in by_pieces.values():
        text = min((text for _, _, text in places), key=len)
        if _weight(text) <= HEAVIEST_LEFT_OUT or not {level for _, level, _ in places} <= {"WARN", "ERROR"}:
            continue
        printed = [release for call in places for release in found[call]]
        since, until = min(printed, key=_number), max(printed, key=_number)
        classes = sorted({cls for cls, _, _ in places}, key=lambda cls: (cls not in BY_CLASS, cls))
        line = text.replace(VALUE, "7")
        problems = problems_in(line)
        known = problems or event_in(line)
        routine = bool(problems) and not any(each.remedy or each.seen.cause for each in problems)
        with_class = min((seen[cls] for cls, _, _ in places), key=_number)
        dated = classes[0].startswith(DATED)
        new = dated and since not in (oldest, NEW_IN_5, with_class) and _number(with_class) < _number(NEW_IN_5)
        told_apart = dated and not routine and (until != newest or new)
        levels = "/".join(sorted({level for _, level, _ in places}))
        problem = BY_CLASS.get(classes[0])
        explained = (
            problem and (problem.remedy or until == newest) and ("ERROR" in levels or (dated and problem.remedy))
        )
        if classes[0].partition("/")[0] in MODULES and (told_apart if known else explained):
            bounds = ("" if since == oldest else since, "" if until == newest else until)
            (known_of if known else unknown).setdefault((", ".join(classes), levels, *bounds), []).append(text)
    rows = [(*key, text) for key, texts in unknown.items() for text in families(sorted(texts))]
    every = {text for texts in known_of.values() for text in texts}
    for key, texts in known_of.items():
        # What tells releases apart is merged only where no line of other releases finds it too.
        apart = [text for text in families(sorted(texts)) if not any(_holds(each, text) for each in every - {*texts})]
        rows += [(*key, text) for text in apart]
        rows += [(*key, text) for text in texts if not any(text == each or _holds(text, each) for each in apart)]
    rows = [row for row in rows if not any(row[:4] == each[:4] and _holds(row[4], each[4]) for each in rows)]
    return "".join("\t".join(row) + "\n" for row in sorted(rows, key=lambda row: (row[0], row[4])))


def _pieces(text: str) -> tuple[str, ...]:
    return tuple(piece for piece in text.split(VALUE) if len(piece.strip()) > 1)


def _holds(text: str, other: str) -> bool:
    """Return whether a line with a text has all pieces of another, in order: one row finds both."""
    return text != other and bool(re.search(".*".join(map(re.escape, other.split(VALUE))), text))


def _number(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))


if __name__ == "__main__":
    import sys

    # A folder of sources jars, or of source trees named by their release.
    where = Path(sys.argv[1])
    named = sorted(
        {m[1] for p in where.iterdir() if (m := re.search(r"(\d+\.\d+\.\d+)", p.name))},
        key=lambda v: tuple(map(int, v.split("."))),
    )
    trees = {
        v: folder(where / v) if (where / v).is_dir() else jars(where.glob(f"rocketmq-*-{v}-sources.jar")) for v in named
    }
    sys.stdout.write(table(releases(trees), named[0], named[-1]))
