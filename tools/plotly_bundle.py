"""Build kit/charts/plotly.min.js.gz: `python tools/plotly_bundle.py` (needs npm and the network).

plotly.js of the release that Python's plotly brings, with the four kinds of traces that kit/charts draws and without maps and 3D, which are two thirds of
it: every report, postmortem and executed notebook carries this file.
"""

from __future__ import annotations

import gzip
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from plotly.offline import get_plotlyjs

TARGET: Final = Path(__file__).resolve().parents[1] / "kit" / "charts" / "plotly.min.js.gz"
TRACES: Final = ("bar", "heatmap", "sankey")
"""Beside `scatter`, which is in the core."""
ESBUILD: Final = "0.25.12"


def main() -> None:
    release = re.findall(r"plotly\.js v([\d.]+)", get_plotlyjs()[:200])[0]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for command in (["init", "-y"], ["install", "--ignore-scripts", f"plotly.js@{release}", f"esbuild@{ESBUILD}"]):
            subprocess.run(["npm", *command], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        licence = (folder / "node_modules/plotly.js/LICENSE").read_text(encoding="utf-8")
        banner = f"/*!\nplotly.js v{release}: scatter, {', '.join(TRACES)}\n\n{licence}*/"
        (folder / "empty.js").touch()  # Node's streams, which only d3's requests name
        registered = ", ".join(f"require('plotly.js/lib/{trace}')" for trace in TRACES)
        (folder / "entry.js").write_text(
            f"module.exports = require('plotly.js/lib/core');\nmodule.exports.register([{registered}]);\n"
        )
        options = ["--bundle", "--minify", "--format=iife", "--global-name=Plotly", "--define:global=window"]
        options += [
            "--define:define.amd=false",
            "--alias:stream=./empty.js",
            "--target=es2020",
            f"--banner:js={banner}",
        ]
        esbuild = folder / "node_modules/@esbuild"
        program = next(esbuild.glob("*/bin/esbuild"))
        subprocess.run([program, "entry.js", *options, "--outfile=out.js", "--log-level=error"], cwd=folder, check=True)
        TARGET.write_bytes(gzip.compress((folder / "out.js").read_bytes(), 9, mtime=0))


if __name__ == "__main__":
    main()
