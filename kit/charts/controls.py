"""Controls above something drawn, redrawn whenever one of them changes.

`ipywidgets.interactive` catches what is displayed while it draws by a hook in the browser, and in JupyterLab the first drawing is often over before
the hook is there: the space under the controls stays empty. Here what is shown is part of the widget's own state, so it arrives with it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

from kit.charts import Chart, Undrawn, clean


def live(draw: Callable[..., Any], button: str = "", **controls: Any) -> Any:
    """Return the controls (ipywidgets with a `value`, by the names of `draw`'s arguments) above what `draw` returns: one chart or table, or several.

    `button`: label of the button that starts a slow `draw`; empty to redraw at every change.
    """
    import ipywidgets

    place = ipywidgets.Output()
    # JupyterLab sends each change to a thread of its own; the last one drawn has to be the last one made.
    drawing = threading.Lock()
    for name, control in controls.items():
        control.description = control.description or name

    def redraw(_: Any = None) -> None:
        with drawing:
            try:
                shown = draw(**{name: control.value for name, control in controls.items()})
                place.outputs = outputs(shown if isinstance(shown, (list, tuple)) else [shown])
            except Exception as error:  # the reader typed or chose it: show what is wrong with it there
                place.outputs = (_output({"text/plain": clean(f"{type(error).__name__}: {error}")}),)

    above = [*controls.values()]
    if button:
        above.append(ipywidgets.Button(description=button))
        above[-1].on_click(redraw)
    else:
        for control in controls.values():
            control.observe(redraw, names="value")
        redraw()
    box = ipywidgets.VBox([*above, place])
    box.add_class("rmq-kit-live")
    return box


def outputs(shown: Iterable[Any]) -> tuple[dict[str, Any], ...]:
    """Return charts, tables and notes as the outputs of a notebook cell."""
    made = []
    for each in shown:
        made += (
            [_output(*bundle) for bundle in each.bundles()]
            if isinstance(each, Chart)
            else [_output(*each._repr_mimebundle_())]
            if isinstance(each, Undrawn)
            else [_output(each._repr_mimebundle_())]
        )
    return tuple(made)


def _output(data: dict[str, Any], metadata: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"output_type": "display_data", "data": data, "metadata": metadata or {}}
