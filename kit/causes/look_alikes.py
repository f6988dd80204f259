"""Causes that are easily confused, told apart. `python -m kit.causes.look_alikes` prints docs/look-alikes.md."""

from collections.abc import Collection
from typing import Final

import pandas as pd

from kit import causes
from kit.i18n import LANGS, Lang, labels

COLUMNS: Final = labels("causes")["look_alike_columns"]
SAYS: Final = labels("causes")["look_alikes"]


def frame(lang: Lang = "en", only: Collection[str] | None = None) -> pd.DataFrame:
    """Return a row for each pair, with the columns of `COLUMNS`, root causes first; `only`: with one of these causes."""
    pairs = [(cause.slug, other, text) for cause in causes.discover() for other, text in cause.looks_like.items()]
    rows = [(*pair, text.in_(lang)) for *pair, text in pairs if only is None or {*pair} & {*only}]
    return pd.DataFrame(rows, columns=pd.Index(list(COLUMNS)))


def page() -> str:
    parts = []
    for level, lang in enumerate(LANGS, 1):
        heads = " | ".join(name.in_(lang) for name in COLUMNS.values())
        texts = [f"{'#' * level} {SAYS['head'].in_(lang)}", SAYS["about"].in_(lang), f"| {heads} |"]
        lines = ["\n\n".join(texts), "|---" * len(COLUMNS) + "|"]
        for cause, other, apart in frame(lang).itertuples(index=False):
            lines.append(f"| `{cause}` | `{other}` | " + apart.replace("|", r"\|") + " |")
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


if __name__ == "__main__":
    print(page(), end="")
