"""What a widget shows as outputs of its own, and what stands in its place where no widget is drawn."""

from collections.abc import Iterable, Mapping
from typing import Any

from kit.charts import Chart
from kit.charts.table import TEMPLATES


def standing(widget: Any, still: Iterable[Mapping[str, Any]]) -> Any:
    """Return a widget displayed with `still`: what stands in its place where no widget is drawn."""

    def show() -> None:
        from IPython.display import publish_display_data

        publish_display_data({**widget._repr_mimebundle_(), "text/plain": ""})
        for each in still:
            html = TEMPLATES.get_template("still.html.j2").render(data=each["data"])
            publish_display_data({"text/html": html, "text/plain": each["data"]["text/plain"]}, each["metadata"])

    widget._ipython_display_ = show
    return widget.add_class("rmq-kit-live")


def outputs(items: Iterable[Any]) -> tuple[dict[str, Any], ...]:
    """Return charts, tables and notes as the outputs of a notebook cell."""
    every = []
    for each in items:
        for bundle in each.bundles() if isinstance(each, Chart) else [each._repr_mimebundle_()]:
            data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
            every.append({"output_type": "display_data", "data": data, "metadata": metadata})
    return tuple(every)
