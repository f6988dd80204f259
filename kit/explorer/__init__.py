"""All evidence of a case at once, narrowed by clicking: linked views over the Parquet files of the workspace, queried with
DuckDB in the kernel. What is selected is a value, `Selection`, which functions accept as an argument.
"""

from __future__ import annotations

from kit.explorer.explorer import Explorer, ExplorerMissing, explore
from kit.explorer.selection import Selection

__all__ = ["Explorer", "ExplorerMissing", "Selection", "explore"]
