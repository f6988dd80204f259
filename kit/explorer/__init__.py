"""Everything of an evidence at once, narrowed by pointing: linked views over the Parquet files of the workspace, asked by
DuckDB in the kernel. What is selected is a value, `Selection`, which the functions take as arguments too.
"""

from __future__ import annotations

from kit.explorer.explorer import Explorer, ExplorerMissing, explore
from kit.explorer.selection import Selection

__all__ = ["Explorer", "ExplorerMissing", "Selection", "explore"]
