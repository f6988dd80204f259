"""What a notebook cell calls: `notebook.start(evidence, …)` gives an `Inquiry`."""

from __future__ import annotations

from kit.notebook.inquiry import Inquiry, locate, start
from kit.notebook.paste_box import paste_box
from kit.notebook.prose import speak

__all__ = ["Inquiry", "locate", "paste_box", "speak", "start"]
