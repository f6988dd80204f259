"""Controls above something drawn, redrawn whenever one of them changes.

`ipywidgets.interactive` catches what is displayed by a hook in the browser; in JupyterLab the first drawing is often
over before the hook is there, and the space stays empty. Here what is shown is part of the widget's own state.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from markupsafe import escape

from kit.charts import Chart, clean


def control(
    draw: Callable[..., Any], given: Mapping[str, str], names: Mapping[str, str], interactive: bool = True
) -> Any:
    """Return a field for each argument of `draw`, called by `names`, above what it returns: charts, tables.

    Without interaction it is what `draw` returns of those `given`.
    """
    if not interactive:
        return draw(**given)
    import ipywidgets

    place = ipywidgets.Output()
    controls: dict[str, Any] = {}
    # JupyterLab sends each change to a thread of its own; the last one drawn has to be the last one made.
    drawing = threading.Lock()

    def redraw(_: Any = None) -> None:
        with drawing:
            try:
                drawn = draw(**{name: each.value for name, each in controls.items()})
                place.outputs = outputs(drawn if isinstance(drawn, (list, tuple)) else [drawn])
            except Exception as error:  # the reader typed or chose it: show what is wrong with it there
                place.outputs = (_output({"text/plain": clean(f"{type(error).__name__}: {error}")}),)

    for name, value in given.items():
        look = {"value": value, "description": names[name], "layout": {"width": "auto"}}
        look["style"] = {"description_width": "initial"}
        controls[name] = ipywidgets.Text(continuous_update=False, **look)
        controls[name].observe(redraw, names="value")
    redraw()
    return standing(ipywidgets.VBox([*controls.values(), place]), place.outputs)


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
    return widget.add_class("rmq-kit-live")


def outputs(items: Iterable[Any]) -> tuple[dict[str, Any], ...]:
    """Return charts, tables and notes as the outputs of a notebook cell."""
    bundles = (each.bundles() if isinstance(each, Chart) else [each._repr_mimebundle_()] for each in items)
    every = itertools.chain.from_iterable(bundles)
    return tuple(_output(*bundle) if isinstance(bundle, tuple) else _output(bundle) for bundle in every)


def _output(data: dict[str, Any], metadata: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"output_type": "display_data", "data": data, "metadata": metadata or {}}
