"""Evidence text made safe to show: nothing in it can affect a terminal, a browser, plotly or MathJax."""

import re
from typing import Any, Final

_ACTING: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
"""C0 (but tab and LF), DEL, C1, soft hyphen, zero-width, line separators, every bidi control, lone surrogates."""

_ENTITIES: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "$": "&#36;"})


def clean(value: Any, limit: int | None = None) -> str:
    r"""Return `value` as text in which control, zero-width and bidi characters are spelled out (`\x1b`, `\u202e`).

    They are not dropped: that somebody planted them is evidence too. `limit`: longest result, an ellipsis marks a cut.
    """
    plain = str(value).replace("\r\n", "\n")
    text = _ACTING.sub(lambda hit: f"\\x{ord(hit[0]):02x}" if hit[0] < "\u0100" else f"\\u{ord(hit[0]):04x}", plain)
    return text if limit is None or len(text) <= limit else text[: max(1, limit - 1)] + "…"


def escape(value: Any, limit: int | None = 80) -> str:
    """Return evidence text for a plotly label or hover text.

    plotly draws a subset of HTML and hands `$…$` to MathJax; as entities both stay text (plotly decodes them last).
    """
    return clean(value, limit).replace("\n", " ").replace("\t", " ").translate(_ENTITIES)
