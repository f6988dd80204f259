"""plotly.js for pages without a network: with what our charts need (tools/plotly_bundle.py), compressed.

A page made of an executed notebook (`jupyter nbconvert --to html`) has it once, and a short script for each chart.
"""

import base64
import functools
import gzip
import hashlib
import json
from collections.abc import Mapping
from importlib import resources
from typing import Any

from markupsafe import escape

_LIBRARY = """<script>
window.rmqKitPlotly = window.rmqKitPlotly || (async () => {
  const bytes = Uint8Array.from(atob("%s"), (c) => c.charCodeAt(0));
  const text = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  // As a function's own, so that a loader in the page (require.js) does not take it.
  return new Function("module", "exports", "define", text + " return typeof Plotly == 'undefined' ? window.Plotly : Plotly;").call(window);
})();
</script>"""
_CHART = """<div style="overflow-x:auto"><div id="%s" style="min-height:%dpx;min-width:%dpx"><p>%s</p></div></div>
<script>
(async (id, figure) => {
  const plotly = await window.rmqKitPlotly, place = document.getElementById(id);
  if (!plotly || !place) return;
  place.textContent = "";
  plotly.newPlot(place, figure.data, figure.layout, { responsive: true, displaylogo: false });
})("%s", %s);
</script>"""


@functools.cache
def packed() -> str:
    """Return the library, compressed, as base64."""
    library = resources.files("kit.charts").joinpath("plotly.min.js.gz").read_bytes()
    return base64.b64encode(library).decode("ascii")


def source() -> str:
    """Return the library as the browser runs it."""
    return gzip.decompress(base64.b64decode(packed())).decode("utf-8")


def library() -> str:
    return _LIBRARY % packed()


def script_safe(value: Any) -> str:
    """Return JSON that nothing in it can close a `<script>` with."""
    text = json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def drawn(figure: Mapping[str, Any], words: str, min_width: int = 0) -> str:
    """Return a figure as HTML that the library draws; without scripts, `words`. It scrolls below `min_width` pixels."""
    safe = script_safe(figure)
    name = "rmq-kit-" + hashlib.sha256(safe.encode()).hexdigest()[:12]
    height = int(figure.get("layout", {}).get("height") or 380)
    return _CHART % (name, height, min_width, escape(words), name, safe)


def wide(width: int) -> str:
    """Return what lets a chart of JupyterLab scroll below `width` pixels; it stands in the output that follows the chart."""
    return f"<style>:has(> .jp-RenderedPlotly):has(+ * .rmq-kit-{width}) {{ overflow-x: auto; > .jp-RenderedPlotly {{ min-width: {width}px }} }}</style><i class='rmq-kit-{width}'></i>"
