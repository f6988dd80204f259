"""An index page over many reports: offline, searchable, one card for each, with similar incidents."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from markupsafe import Markup

from kit import __version__
from kit.case import output
from kit.charts.table import environment
from kit.evidence import disk
from kit.i18n import Lang, labels
from kit.incidents.history import LEAST, History, Incident, read
from kit.report import html
from kit.report.labels import VERDICTS

PAGE_NAME: Final = "index.html"
MARK: Final = '<meta name="generator" content="rmq-kit'
ALIKE_SHOWN: Final = 3

WORDS: Final = labels("incidents")["words"]
SAYS: Final = labels("incidents")["gallery"]


_ENV: Final = environment("kit.incidents", "kit.report")


def write(folder: str | Path, lang: Lang = "en") -> Path:
    """Write `index.html` into the folder of the reports and return its path.

    Raise `FileNotFoundError`, `NotADirectoryError`, `OutputRefused` if something the kit did not write has that name,
    or if the folder is a single report's: it contains only what `report` wrote.
    """
    target = Path(folder) / PAGE_NAME
    history = History(*read(folder), lang)
    if (Path(folder) / output.MARKER).exists():
        raise output.OutputRefused(SAYS["one_report"].say(path=str(folder)).render(lang))
    is_own = target.is_file() and MARK in target.read_text(encoding="utf-8", errors="replace")[:4096]
    if target.is_symlink() or (target.exists() and not is_own):
        raise output.OutputRefused(SAYS["foreign"].say(path=str(target)).render(lang))
    disk.write_text(target, page(history, Path(folder)))
    return target


def page(history: History, folder: Path) -> str:
    """Return the page; links are relative to `folder`."""
    lang = history.lang
    css = html.template_text("report.css") + html.template_text("gallery.css", "kit.incidents")
    script = html.template_text("gallery.js", "kit.incidents")
    return _ENV.get_template("gallery.html.j2").render(
        lang_tag="zh-CN" if lang == "zh" else "en",
        words={name: text.in_(lang) for name, text in WORDS.items()},
        verdicts={verdict: (icon, name.in_(lang)) for verdict, (icon, name) in VERDICTS.items()},
        version=__version__,
        made=WORDS["made"].say(version=__version__).render(lang),
        cards=[_card(history, one, folder) for one in reversed(history.incidents)],
        unread=[sentence.render(lang) for sentence in history.unread],
        csp=html.policy(css, script),
        css=Markup(css),
        script=Markup(script),
    )


def _card(history: History, one: Incident, folder: Path) -> dict[str, Any]:
    lang, causes = history.lang, one.with_verdict()
    confirmed = [f for f in causes if f["cause"] in one.root_causes]
    lead = confirmed or [f for f in causes if f.get("kind") == "root_cause"] or causes
    names = sorted(what for kind, what in one.traits() if kind == "name")
    return {
        "id": one.name,
        "name": one.name if one.name != "." else WORDS["unnamed"].in_(lang),
        "evidence": one.evidence,
        "began": WORDS["began"].say(when=one.began).render(lang) if one.began else WORDS["undated"].in_(lang),
        "title": " · ".join(str(f.get("title") or f["cause"]) for f in confirmed) or WORDS["no_cause"].in_(lang),
        "summary": [f.get("summary") or "" for f in lead[:3]],
        "causes": causes,
        "names": ", ".join(names[:12]),
        "words": " ".join([one.name, one.evidence, *names, *(f["cause"] for f in causes)]),
        "pages": [page.relative_to(folder) for page in one.pages],
        "alike": history.likeness(one.name, LEAST).head(ALIKE_SHOWN).to_dict("records"),
    }
