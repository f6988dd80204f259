"""What somebody saved instead of copying it: pages show what a browser shows, and nothing of their scripts."""

from __future__ import annotations

import html
import zipfile
from pathlib import Path

import pytest

from kit.explanation.explain import explain
from kit.inventory import inventory
from kit.pasted import documents

BUSY = "[TIMEOUT_CLEAN_QUEUE]broker busy, start flow control for a while, period in queue: 201ms, size of queue: 12"
PAGE = f"""<!DOCTYPE html><html><head><title>[REJECTREQUEST]system busy</title>
<script>var a = "<pre>[REJECTREQUEST]system busy, start flow control for a while</pre>";</script></head>
<body><div>Hi,<br>we   see <b>this</b>:</div><pre>
2026-11-23 10:22:31 WARN main - CODE: 2 &amp; {html.escape(BUSY)}
  at a.b(C.java:1)</pre><ul><li>one<li>two</ul></body></html>"""
SHOWN = ["Hi,", "we see this:", f"2026-11-23 10:22:31 WARN main - CODE: 2 & {BUSY}", "  at a.b(C.java:1)", "one", "two"]


def word(path: Path, *paragraphs: str) -> Path:
    body = "".join(f'<w:p><w:r><w:t xml:space="preserve">{html.escape(p)}</w:t></w:r></w:p>' for p in paragraphs)
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("[Content_Types].xml", "<Types/>")
        out.writestr("word/document.xml", f"<w:document><w:body>{body}</w:body></w:document>")
    return path


def test_page() -> None:
    assert documents.is_page(PAGE)
    assert [line for line in documents.shown(PAGE).splitlines() if line] == SHOWN


@pytest.mark.parametrize(
    "text", ["<b>broker busy</b>", "2026-11-23 <html>", "<?xml version='1.0'?><configuration/>", ""]
)
def test_what_is_no_page(text: str) -> None:
    assert not documents.is_page(text)


@pytest.mark.parametrize("text", ["<html><script>", "<html><pre><b", "<html>" + "<div>" * 100_000, "<html></script>x"])
def test_broken_pages(text: str) -> None:
    assert documents.shown(text).strip() in ("", "x", "<b")


def test_scripts_explain_nothing() -> None:
    assert [row["slug"] for row in explain(PAGE) if row["slug"]] == ["flow-control-queue"]


def test_documents_are_read_as_their_text(tmp_path: Path) -> None:
    (tmp_path / "e").mkdir()
    (tmp_path / "e" / "issue.html").write_text(PAGE)
    word(tmp_path / "e" / "notes.docx", "what we saw:", f"2026-11-23 10:22:31 WARN main - CODE: 2 {BUSY}")
    found = inventory.take(tmp_path / "e", tmp_path / "w")
    assert [i.file for i in found.items] == ["issue.html#text", "notes.docx#text"]
    assert {a.file for a in found.archives} == {"issue.html", "notes.docx"}
    said = Path(found.items[1].path).read_text().splitlines()
    assert said == ["what we saw:", f"2026-11-23 10:22:31 WARN main - CODE: 2 {BUSY}"]
