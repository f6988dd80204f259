"""Mosaic's widget in the notebook's colours: its own style sheet assumes a white page."""

from __future__ import annotations

import functools
import threading
from typing import Any, Final

STYLE: Final = """
.mosaic-widget { color: var(--jp-ui-font-color1, inherit); font-family: var(--jp-ui-font-family, sans-serif); overflow-x: auto; }
.mosaic-widget thead tr th { background: var(--jp-layout-color1, #fff); color: var(--jp-ui-font-color1, #111); border-bottom-color: var(--jp-border-color1, #ccc); }
.mosaic-widget td { color: var(--jp-ui-font-color1, #444); border-bottom-color: var(--jp-border-color2, #eee); }
.mosaic-widget tbody tr, .mosaic-widget tbody tr:nth-child(even) { background: transparent; }
.mosaic-widget tbody tr:hover { background: var(--jp-rendermime-table-row-hover-background, #eef); }
.mosaic-widget .input { display: inline-flex; align-items: center; gap: 0.4em; margin: 0.2em 1em 0.2em 0; }
.mosaic-widget .input select { max-width: 11em; background: var(--jp-layout-color1, #fff); color: inherit; border: 1px solid var(--jp-border-color1, #ccc); padding: 2px; }
.mosaic-widget > div, .mosaic-widget > div > div { max-width: 100%; flex-wrap: wrap !important; }
.mosaic-widget svg { background: transparent !important; color: inherit; overflow: hidden; }
.mosaic-widget svg [aria-label="tip"] { --plot-background: var(--jp-layout-color1, #fff); }
"""


@functools.cache
def themed() -> Any:
    """Return the widget's class; imported only when needed, since anywidget is slow to import."""
    import mosaic_widget

    class Explorer(mosaic_widget.MosaicWidget):
        _css = str(mosaic_widget.MosaicWidget._css) + STYLE

        def __init__(self, *arguments: Any, **named: Any) -> None:
            self._one_at_a_time = threading.Lock()
            super().__init__(*arguments, **named)

        def _handle_custom_msg(self, content: Any, buffers: Any) -> None:
            # JupyterLab may handle each widget message in a separate thread; a DuckDB connection takes one call at a time.
            with self._one_at_a_time:
                super()._handle_custom_msg(content, buffers)

    return Explorer
