"""plotly.js for pages without a network: with what our charts need (tools/plotly_bundle.py), compressed.

A page made of an executed notebook (`jupyter nbconvert --to html`) has it once, and a short script for each chart.
"""

import base64
import gzip
import hashlib
import json
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from kit import data
from kit.charts.table import TEMPLATES


def packed() -> str:
    """Return the library, compressed, as base64."""
    return base64.b64encode((data.KIT / "charts" / "plotly.min.js.gz").read_bytes()).decode("ascii")


def source() -> str:
    """Return the library as the browser runs it."""
    return gzip.decompress(base64.b64decode(packed())).decode("utf-8")


def library() -> str:
    return TEMPLATES.get_template("library.html.j2").render(packed=Markup(packed()))


def script_safe(value: Any) -> str:
    """Return JSON that nothing in it can close a `<script>` with."""
    text = json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def drawn(figure: Mapping[str, Any], words: str, min_width: int = 0) -> str:
    """Return a figure as HTML that the library draws; without scripts, `words`. It scrolls below `min_width` pixels."""
    safe = script_safe(figure)
    return TEMPLATES.get_template("chart.html.j2").render(
        name="rmq-kit-" + hashlib.sha256(safe.encode()).hexdigest()[:12],
        height=int(figure.get("layout", {}).get("height") or 380),
        min_width=min_width,
        words=words,
        figure=Markup(safe),
    )


def wide(width: int) -> str:
    """Return what lets a chart of JupyterLab scroll below `width` pixels; it stands in the output behind it."""
    return f"<style>:has(> .jp-RenderedPlotly):has(+ * .rmq-kit-{width}) {{ overflow-x: auto; > .jp-RenderedPlotly {{ min-width: {width}px }} }}</style><i class='rmq-kit-{width}'></i>"
