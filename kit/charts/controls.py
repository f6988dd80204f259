"""What a widget shows as outputs of its own, and what stands in its place where no widget is drawn."""

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

from markupsafe import Markup, escape

from kit.charts import Chart
from kit.charts.table import TEMPLATES


def standing(widget: Any, still: Iterable[Mapping[str, Any]]) -> Any:
    """Return a widget displayed with `still`: what stands in its place where no widget is drawn."""

    def show() -> None:
        from IPython.display import publish_display_data

        publish_display_data({**widget._repr_mimebundle_(), "text/plain": ""})
        for data, metadata in [(each["data"], each["metadata"]) for each in still]:
            html = data.get("text/html") or f"<pre>{escape(data['text/plain'])}</pre>"
            marked = TEMPLATES.get_template("still.html.j2").render(html=Markup(html))
            publish_display_data({"text/html": marked, "text/plain": data["text/plain"]}, metadata)

    widget._ipython_display_ = show
    return widget.add_class("rmq-kit-live")


def outputs(items: Iterable[Any]) -> tuple[dict[str, Any], ...]:
    """Return charts, tables and notes as the outputs of a notebook cell."""
    bundles = (each.bundles() if isinstance(each, Chart) else [each._repr_mimebundle_()] for each in items)
    every = itertools.chain.from_iterable(bundles)
    return tuple(_output(*bundle) if isinstance(bundle, tuple) else _output(bundle) for bundle in every)


def _output(data: dict[str, Any], metadata: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"output_type": "display_data", "data": data, "metadata": metadata or {}}
