"""Charts in a page made of an executed notebook (`jupyter nbconvert --to html`): JupyterLab draws them from JSON, such a page needs the library and a call.

The library is in the notebook once, compressed; each chart is a short script that waits for it. Nothing is fetched from anywhere.
"""

from __future__ import annotations

import base64
import functools
import gzip
import hashlib
import json
from collections.abc import Mapping
from typing import Any

from markupsafe import escape

_LIBRARY = """<script>
window.rmqKitPlotly = window.rmqKitPlotly || (async () => {
  const bytes = Uint8Array.from(atob("%s"), (c) => c.charCodeAt(0));
  const text = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  new Function("module", "exports", "define", text).call(window);
  return window.Plotly;
})();
</script>"""
_CHART = """<div id="%s" style="min-height:%dpx"><p>%s</p></div>
<script>
(async (id, figure) => {
  const plotly = await window.rmqKitPlotly, place = document.getElementById(id);
  if (!plotly || !place) return;
  place.textContent = "";
  plotly.newPlot(place, figure.data, figure.layout, { responsive: true, displaylogo: false });
})("%s", %s);
</script>"""


@functools.cache
def library() -> str:
    """Return the drawing library as HTML, for the first output of a notebook."""
    from plotly.offline import get_plotlyjs

    packed = gzip.compress(get_plotlyjs().encode(), 9, mtime=0)
    return _LIBRARY % base64.b64encode(packed).decode("ascii")


def drawn(figure: Mapping[str, Any], words: str) -> str:
    """Return a figure as HTML that the library draws; until then, or without scripts, `words` stand in its place."""
    text = json.dumps(figure, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    safe = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    name = "rmq-kit-" + hashlib.sha256(text.encode()).hexdigest()[:12]
    return _CHART % (name, int(figure.get("layout", {}).get("height") or 380), escape(words), name, safe)
