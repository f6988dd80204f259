"""What a person with plain tools sees: names of files as text, lines counted by hand, records found by their offset. None of it is the kit's."""

import functools
import gzip
import os
import re

import pyarrow.parquet as pq


def text_of(raw):
    """Return a name of bytes as text: UTF-8, else GB18030, else with what is neither as escapes."""
    for encoding in ("utf-8", "gb18030"):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    return raw.decode("utf-8", "backslashreplace")


def names(folder):
    """Return the names, relative to the folder, of all that lies in it and is no folder."""
    top = os.fsencode(folder)
    found = []
    for root, folders, files in os.walk(top):
        links = [name for name in folders if os.path.islink(os.path.join(root, name))]  # noqa: PTH114, PTH118 - names of bytes
        found += [os.path.relpath(os.path.join(root, name), top) for name in (*files, *links)]  # noqa: PTH118
    return sorted("/".join(text_of(part) for part in name.split(b"/")) for name in found)


@functools.lru_cache(maxsize=16)
def lines(path):
    """Return the lines of a file that nobody changes, cut at line feeds."""
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        data = data.decode("utf-16", "replace").encode()
    elif re.match(rb"([ -~]\0){20}", data):  # As Windows writes it where nobody asks for a mark.
        data = data.decode("utf-16-le", "replace").encode()
    return data.split(b"\n")


def line(path, number):
    """Return a line of a file, counted in line feeds from 1."""
    found = lines(path)
    assert 1 <= number <= len(found), (path, number, len(found))
    return found[number - 1].decode("utf-8", "replace").rstrip("\r")


def record(path, physical_offset):
    """Return the header of the record that says it is stored at this offset."""
    base = int(path.name) if len(path.name) == 20 and path.name.isdigit() else 0
    base = base if base < 2**63 else 0  # Offsets are longs: what no long holds is a name like any other.
    with path.open("rb") as file:
        file.seek(physical_offset - base)
        head = file.read(100)
    assert head[4:8] in (b"\xda\xa3\x20\xa7", b"\xda\xa3\x20\xab"), (path, physical_offset)
    assert int.from_bytes(head[28:36], "big") == physical_offset, (path, physical_offset)
    return head


def check(findings, evidence):
    """Check that every reference is to a line or record that is there and reads so; return how many there are."""
    count = 0
    for finding in findings["findings"]:
        for step in finding["steps"]:
            for ref in step["evidence"]:
                path = evidence / ref["file"]
                assert path.is_file(), ref
                if path.suffix == ".parquet":  # It has rows, not lines.
                    cells = pq.read_table(path).slice(ref["line"] - 1, 1).to_pylist()[0].values()
                    assert all(str(cell) in ref["text"] for cell in cells if isinstance(cell, str)), ref
                elif "line" in ref:
                    shown = line(path, ref["line"])
                    assert ref["text"].rstrip("… ")[:200] in shown, (finding["cause"], ref, shown[:300])
                else:
                    record(path, ref["physical_offset"])
                count += 1
    return count
