"""All evidence of a case at once, narrowed by clicking: linked views over narrow copies of its logs and records.

What is selected is a value, `Selection`, which functions accept as an argument.
"""

from __future__ import annotations

from kit.explorer.explorer import Explorer, explore
from kit.explorer.selection import Selection

__all__ = ["Explorer", "Selection", "explore"]
