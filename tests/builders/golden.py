"""Findings reduced to what a change of the engine must not change, kept as data in `tests/golden/findings`, and how two of them differ.

Kept: root causes, and of each finding its verdict, window, figures, steps and references. Left out: prose, which may be reworded.
"""

import difflib
import hashlib
import json
from pathlib import Path

import pastes
import recorded

import kit

KEPT = Path(__file__).parents[1] / "golden" / "findings"
PASTES = "pastes"
NAMES = (*recorded.EVERY, PASTES)
FOUND = ("confirmed", "suspected", "failed")


def file(name):
    return KEPT / f"{name}.json"


def load(name):
    return json.loads(file(name).read_text(encoding="utf-8"))


def digest(found):
    """Return what is kept of a findings.json."""
    return {"root_causes": found["root_causes"], "findings": {f["cause"]: finding(f) for f in found["findings"]}}


def finding(one):
    """Return what is kept of one finding of a findings.json."""
    kept = {name: one[name] for name in ("kind", "verdict", "window", "explained_by")}
    kept |= {"missing": len(one["missing"]), "figures": _sorted(one["figures"]), "steps": {}}
    for step in one["steps"]:
        name, more = step["id"], 2
        while name in kept["steps"]:
            name, more = f"{step['id']}-{more}", more + 1
        kept["steps"][name] = {"role": step["role"], "holds": step["holds"], "evidence": [*map(_ref, step["evidence"])]}
    return kept | ({"error": one["error"]} if "error" in one else {})


def _sorted(value):
    return {k: _sorted(value[k]) for k in sorted(value)} if isinstance(value, dict) else value


def _ref(ref):
    place = f":{ref['line']}" if "line" in ref else f"@{ref['physical_offset']}"
    return f"{ref['file']}{place} #{hashlib.sha256(ref['text'].encode('utf-8', 'backslashreplace')).hexdigest()[:8]}"


def of_cause(case, slug):
    """Return what is kept of one cause or known problem, without asking for any other; None where it says nothing."""
    from kit import causes
    from kit.causes import declared, known_problems, shown_by
    from kit.causes.triage import plain

    known = {cause.slug: cause for cause in causes.discover()}
    if slug in known:
        return finding(plain(shown_by.weighed(case.facts, declared.examine(case.facts, known[slug])).as_dict()))
    return next((finding(plain(f.as_dict())) for f in known_problems.examine(case.facts) if f.cause == slug), None)


def pasted(folder, **how):
    """Return what every paste shows, by its name, each opened as a file of a folder of its own."""
    shown = {}
    for n, paste in enumerate(pastes.EVERY):
        place = folder / str(n)
        place.mkdir()
        (place / "paste.txt").write_text(paste.text, encoding="utf-8")
        kept = shown[paste.name] = digest(kit.triage(kit.open_case(place / "paste.txt", place / "ws", **how)))
        # A few lines leave nearly all causes open.
        shows = {k: v for k, v in kept["findings"].items() if v["verdict"] != "insufficient_evidence"}
        kept["findings"] = shows
    return shown


def text(kept):
    """Return it as JSON with one line for each figure and step, and one for each finding that found nothing."""
    if "root_causes" in kept:
        return "".join(_lines(kept, "")) + "\n"
    each = (f" {_json(name)}: {''.join(_lines(kept[name], ' '))}" for name in kept)
    return "{\n" + ",\n".join(each) + "\n}\n"


def _lines(kept, indent):
    yield f'{{\n{indent} "root_causes": {_json(kept["root_causes"])},\n{indent} "findings": {{'
    between = "\n"
    for slug in sorted(kept["findings"]):
        one = kept["findings"][slug]
        yield f"{between}{indent}  {_json(slug)}: "
        yield _open(one, indent + "  ") if one["verdict"] in FOUND else _json(one)
        between = ",\n"
    yield f"\n{indent} }}\n{indent}}}"


def _open(one, indent):
    head = [f"{_json(k)}: {_json(v)}" for k, v in one.items() if k not in ("figures", "steps")]
    parts = [", ".join(head)]
    for name in ("figures", "steps"):
        order = one[name] if name == "steps" else sorted(one[name])
        rows = [f"\n{indent}  {_json(k)}: {_json(one[name][k])}" for k in order]
        parts.append(f"\n{indent} {_json(name)}: {{{','.join(rows)}}}")
    return "{" + ",".join(parts) + "}"


def _json(value):
    return json.dumps(value, ensure_ascii=False)


def differences(expected, actual):
    """Return the lines that differ, `-` expected and `+` what there is, each behind its cause; [] if there is none."""
    if "root_causes" not in expected:
        empty = {"root_causes": [], "findings": {}}
        names = sorted(expected.keys() | actual.keys())
        return [f"{n}: {d}" for n in names for d in differences(expected.get(n, empty), actual.get(n, empty))]
    said = _differ("root_causes", _json(expected["root_causes"]), _json(actual["root_causes"]))
    for slug in sorted(expected["findings"].keys() | actual["findings"].keys()):
        said += of_finding(slug, expected["findings"].get(slug), actual["findings"].get(slug))
    return said


def of_finding(slug, expected, actual):
    """Return the same of one finding, None where there is none."""
    return _differ(slug, *(_open(_rounded(one), "") if one else "" for one in (expected, actual)))


def _differ(where, expected, actual):
    lines = difflib.ndiff(expected.splitlines(), actual.splitlines())
    return [f"{where}: {line}" for line in lines if line[0] in "-+"]


def _rounded(value):
    """Return the same with floats in nine digits: sums in another order are none that differ."""
    if isinstance(value, dict):
        return {name: _rounded(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return float(f"{value:.9g}") if isinstance(value, float) else value
