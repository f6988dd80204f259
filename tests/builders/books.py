"""Notebooks that a test writes."""

from pathlib import Path

import nbformat
from nbformat.v4 import new_notebook

KERNEL = {
    "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
    "language_info": {"name": "python"},
}


def write(path: Path, *cells: nbformat.NotebookNode, **about: str) -> Path:
    """Write a notebook of these cells; `about`: what it says of itself to the kit."""
    path.parent.mkdir(exist_ok=True)
    nbformat.write(new_notebook(cells=list(cells), metadata={**KERNEL, "rmq-kit": about}), path)
    return path
