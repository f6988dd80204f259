"""A question as a form: type or choose, check, ask for the hint. It only calls `check` and `hint`, which work without it."""

from __future__ import annotations

from typing import Any

from kit.charts import clean
from kit.charts.controls import outputs
from kit.i18n import T
from kit.training.session import Note, Session

CHECK, HINT = T("Check"), T("Hint")
PLACE = T("your answer")


def form(session: Session, id_: str) -> Any:
    """Return the question with a field, two buttons and a space for notes."""
    import ipywidgets

    question = session.question(id_)
    lang = session.lang
    label = {"description": id_, "style": {"description_width": "initial"}}
    if question.options and question.kind == "word":
        choices = [("", None), *((clean(session.say(text), 100), name) for name, text in question.options.items())]
        field = ipywidgets.Dropdown(options=choices, layout={"width": "90%"}, **label)
    else:
        field = ipywidgets.Text(placeholder=PLACE.render(lang), **label)
    told = ipywidgets.Output()
    buttons = []
    for text, act in ((CHECK, lambda: session.check(id_, field.value)), (HINT, lambda: session.hint(id_))):
        button = ipywidgets.Button(description=text.render(lang))
        button.on_click(lambda _, act=act: _show(told, act()))
        buttons.append(button)
    asked = ipywidgets.Output()
    _show(asked, session.ask(id_))
    return ipywidgets.VBox([asked, ipywidgets.HBox([field, *buttons]), told])


def _show(place: Any, note: Note) -> None:
    """Put a note into an output by its data, not by a display hook: a callback may run in any thread."""
    place.outputs = outputs([note])
