"""Several notebooks run one behind the other in one kernel: what a kernel takes to start is most of what a walk takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell
from papermill.translators import PythonTranslator

from kit.evidence.failure import Failure
from kit.report import notebooks


def execute(paths: Iterable[Path], out: Path, parameters: Mapping[str, Any], failures: list[Failure]) -> list[Path]:
    """Do what `notebooks.execute` does, in one kernel."""
    books = {path.name: notebooks.read(path) for path in paths}
    cells = []
    for name, book in books.items():
        for number, cell in enumerate(book.cells):
            cell.metadata["book"], cell["id"] = name, f"{name[:2]}-{number}"
            cells.append(cell)
            if "parameters" in cell.metadata.get("tags", ()):
                given = new_code_cell(PythonTranslator.codify(dict(parameters)), metadata={"book": name})
                cells.append(given)
    whole = next(iter(books.values())).copy()
    whole.cells = cells
    out.mkdir(parents=True)
    nbformat.write(whole, out / "whole.ipynb")
    [done] = notebooks.execute([out / "whole.ipynb"], out / "done", parameters, failures)
    for name, book in books.items():
        book.cells = [cell for cell in notebooks.read(done).cells if cell.metadata.get("book") == name]
        nbformat.write(book, out / name)
    return [out / name for name in books]
