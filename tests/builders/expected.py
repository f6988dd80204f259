"""What a row of data expects of a finding: a verdict, or {verdict, figures, steps, claims, quotes, places, asks, says, unsaid, nowhere, advises, window,
consequence_of}.

Figures and steps that are named, words of a step's claim and of the lines it quotes and their places, of what is asked for ("" for anything), words its summary must have or
not, words that stand nowhere in the finding, words of its first remedy (`advises`,
"": it has none).
"""

import json

from kit import causes
from kit.causes import declared
from kit.causes.triage import plain
from kit.i18n import LANGS


def examine(facts, slug):
    return declared.examine(facts, next(cause for cause in causes.discover() if cause.slug == slug))


def check(found, expected):
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
    places = {step.id: [str(ref) for ref in step.evidence] for step in found.steps}
    assert all(places[name][: len(each)] == each for name, each in wanted.get("places", {}).items())
    window = found.window and [at.isoformat() for at in found.window]
    assert window == wanted.get("window", window)
    assert [*found.consequence_of] == wanted.get("consequence_of", [*found.consequence_of])
    asked = " ".join(f"{each.artefact.render()} {each.command} {each.why.render()}" for each in found.missing)
    assert all(words in asked and asked for words in wanted.get("asks", ()))
    advised = [remedy.action.render("en") for remedy in found.remedies[:1]] if "advises" in wanted else []
    assert [wanted["advises"] in each for each in advised] == [True] * bool(wanted.get("advises"))
    assert wanted.get("says", "") in found.shown_summary.render("en")
    assert "unsaid" not in wanted or wanted["unsaid"] not in found.summary.render("en")
    for words in wanted.get("nowhere", ()):
        assert words not in json.dumps([plain(found.as_dict(lang)) for lang in LANGS], ensure_ascii=False)
