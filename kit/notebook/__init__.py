"""What a notebook cell calls: `notebook.start(evidence, …)` gives an `Inquiry`."""

from kit.notebook.answers import explained
from kit.notebook.inquiry import Inquiry, locate, start
from kit.notebook.prose import speak

__all__ = ["Inquiry", "explained", "locate", "speak", "start"]
