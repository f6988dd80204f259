"""Controls above something drawn, redrawn whenever one of them changes.

`ipywidgets.interactive` catches what is displayed by a hook in the browser; in JupyterLab the first drawing is often
over before the hook is there, and the space stays empty. Here what is shown is part of the widget's own state.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from markupsafe import escape

from kit.charts import Chart, clean


def live(draw: Callable[..., Any], **controls: Any) -> Any:
    """Return controls (ipywidgets, by the names of `draw`'s arguments) above what `draw` returns: charts, tables."""
    import ipywidgets

    place = ipywidgets.Output()
    # JupyterLab sends each change to a thread of its own; the last one drawn has to be the last one made.
    drawing = threading.Lock()

    def redraw(_: Any = None) -> None:
        with drawing:
            try:
                shown = draw(**{name: control.value for name, control in controls.items()})
                place.outputs = outputs(shown if isinstance(shown, (list, tuple)) else [shown])
            except Exception as error:  # the reader typed or chose it: show what is wrong with it there
                place.outputs = (_output({"text/plain": clean(f"{type(error).__name__}: {error}")}),)

    for name, control in controls.items():
        control.description = control.description or name
        control.observe(redraw, names="value")
    redraw()
    box = ipywidgets.VBox([*controls.values(), place])
    box.add_class("rmq-kit-live")
    return standing(box, place.outputs)


def control(
    draw: Callable[..., Any],
    given: Mapping[str, Any],
    names: Mapping[str, str],
    choices: Mapping[str, Sequence[Any]] | None = None,
    interactive: bool = True,
) -> Any:
    """Return `draw` below a control for each of its arguments; without interaction what it draws of those `given`.

    `choices`: least, most and step of a number (a tuple), or the values of a menu (a list).
    """
    if not interactive:
        return draw(**given)
    import ipywidgets

    controls = {}
    for name, value in given.items():
        look = {"value": value, "description": names[name], "layout": {"width": "auto"}}
        look["style"] = {"description_width": "initial"}
        choice = (choices or {}).get(name)
        if isinstance(value, bool):
            controls[name] = ipywidgets.Checkbox(indent=False, **look)
        elif isinstance(choice, tuple):
            low, high, step = choice
            controls[name] = ipywidgets.IntSlider(min=low, max=high, step=step, continuous_update=False, **look)
        elif choice:
            controls[name] = ipywidgets.Dropdown(options=choice, **look)
        else:
            controls[name] = ipywidgets.Text(continuous_update=False, **look)
    return live(draw, **controls)


STILL: Final = (
    "<style>.jp-OutputArea:has(.rmq-kit-live) > .jp-OutputArea-child:has(.rmq-kit-still) { display: none }</style>"
    '<div class="rmq-kit-still">%s</div>'
)
"""Hidden where the widget itself (class `rmq-kit-live`) is in the same cell."""


def standing(widget: Any, still: Iterable[Mapping[str, Any]]) -> Any:
    """Return a widget displayed with `still`: what stands in its place where no widget is drawn."""

    def show() -> None:
        from IPython.display import publish_display_data

        publish_display_data({**widget._repr_mimebundle_(), "text/plain": ""})
        for data, metadata in [(each["data"], each["metadata"]) for each in still]:
            html = data.get("text/html") or f"<pre>{escape(data['text/plain'])}</pre>"
            publish_display_data({"text/html": STILL % html, "text/plain": data["text/plain"]}, metadata)

    widget._ipython_display_ = show
    return widget


def outputs(shown: Iterable[Any]) -> tuple[dict[str, Any], ...]:
    """Return charts, tables and notes as the outputs of a notebook cell."""
    bundles = (each.bundles() if isinstance(each, Chart) else [each._repr_mimebundle_()] for each in shown)
    every = itertools.chain.from_iterable(bundles)
    return tuple(_output(*bundle) if isinstance(bundle, tuple) else _output(bundle) for bundle in every)


def _output(data: dict[str, Any], metadata: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"output_type": "display_data", "data": data, "metadata": metadata or {}}
