"""What a notebook cell calls: `notebook.start(evidence, …)` gives an `Inquiry`."""

from __future__ import annotations

from kit.notebook.inquiry import Inquiry, locate, start

__all__ = ["Inquiry", "locate", "start"]
