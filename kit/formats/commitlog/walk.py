"""Walks a commit log or DLedger data file: where each record starts, how long it is, which ranges are no records.

A record counts where it is behind its predecessor and its lengths agree; elsewhere (behind damage, at a split) only
where its own physicalOffset says that it belongs there too. Nothing is decoded here but lengths.
"""

from typing import Any, Final

from kit.formats.commitlog import records
from kit.formats.commitlog.records import CUT, Bytes, be, content_end, entry_fits, is_zero, measure, next_magic
from kit.rocketmq import binary_format as f

REASONS: Final = ("zero_tail", "blank", "truncated", "corrupt")
ZERO_TAIL, BLANK, TRUNCATED, CORRUPT = range(4)

# Marks of a record, as bits; the slugs users see are in kit.formats.commitlog.columns.
BAD_OFFSET: Final = 1
BAD_ENTRY: Final = 2


@records.kernel
def frame(buf: Bytes, at: int, end: int, base: int, head: int) -> tuple[int, int]:
    """Return (bytes of the record or entry at `at`, 0 if absent; its marks). `head`: 48 in a DLedger file, else 0."""
    size = measure(buf, at + head, end)
    if size <= 0:
        return 0, 0
    here = be(buf, at + head + f.AT_PHYSICAL_OFFSET, 8) == base + at + head
    mark = 0 if here else BAD_OFFSET
    if head and not entry_fits(buf, at, base, size):
        if not here:
            return 0, 0
        mark |= BAD_ENTRY
    return head + size, mark


@records.kernel
def resync(buf: Bytes, start: int, end: int, base: int, head: int) -> int:
    """Return the first position from `start` at which a record says that it belongs, else `end`."""
    at = start + head + 4
    while True:
        at = next_magic(buf, at, end)
        if at >= end:
            return end
        record = at - 4
        if measure(buf, record, end) > 0 and be(buf, record + f.AT_PHYSICAL_OFFSET, 8) == base + record:
            return record - head
        at += 1


@records.kernel
def chunk_start(buf: Bytes, split: int, back: int, base: int, head: int) -> tuple[int, bool]:
    """Return the first record start at or after `split`, where one task stops and the next begins, and whether one
    record followed the other up to there: if not, `buf` may end inside one.

    The walk starts `back` bytes earlier, so that a copy of a record inside a body is passed over.
    """
    end = len(buf)
    at = max(0, split - back)
    if at > 0:
        at = resync(buf, at, end, base, head)
    whole = at < end
    while at < split:
        size, _ = frame(buf, at, end, base, head)
        whole &= size > 0
        at = at + size if size else resync(buf, at, end, base, head)
    return min(at, end), whole


@records.kernel
def is_blank(buf: Bytes, at: int, length: int, head: int) -> bool:
    """Return whether filler to the end of the file begins at `at` (`CommitLog` blank, `MmapFileList`)."""
    if head:
        return be(buf, at, 4) == f.DLEDGER_BLANK and be(buf, at + 4, 4) == length - at
    return be(buf, at + 4, 4) & 0xFFFFFFFF == f.MAGIC_BLANK and be(buf, at, 4) == length - at


@records.kernel
def is_cut(buf: Bytes, at: int, length: int, base: int, head: int) -> bool:
    """Return whether the file ends inside a record that begins at `at`."""
    end = len(buf)
    if end - at < 8:
        return True
    if head and be(buf, at, 4) == f.DLEDGER_MAGIC:
        return at + be(buf, at + f.DLEDGER_AT_SIZE, 4) > length and (
            at + 32 > end or be(buf, at + f.DLEDGER_AT_POS, 8) == base + at
        )
    if head or measure(buf, at, end) != CUT or at + be(buf, at, 4) <= length:
        return False
    return at + f.AT_SYS_FLAG > end or be(buf, at + f.AT_PHYSICAL_OFFSET, 8) == base + at


@records.kernel
def filler(buf: Bytes, at: int, end: int, length: int, base: int, head: int) -> int:
    """Return the end of the filler that begins at `at`, `at` if absent. `at` must be where a record could begin."""
    if end - at < 8:
        return at
    if is_blank(buf, at, length, head):
        return end
    first, second = be(buf, at, 4), be(buf, at + 4, 4)
    if head and first == f.DLEDGER_MAGIC and end - at >= head and entry_fits(buf, at, base, 0):
        return at + head
    begins = first == f.DLEDGER_BLANK if head else second & 0xFFFFFFFF == f.MAGIC_BLANK
    if not begins:
        return at
    size = second if head else first
    if size >= 8 and at + size < end:
        # Files of one log joined: the next begins right behind. Nothing else there is trusted: it may be stale.
        behind, mark = frame(buf, at + size, end, base, head)
        if behind and not mark:
            return at + size
    # DLedger's magic is weak (overwritten bytes are often 0xFF): the zeros that it writes behind must be there too.
    return at if head and (size <= length - at or not is_zero(buf, at + 8, end)) else end


@records.kernel
def tail(buf: Bytes, at: int, length: int, base: int, head: int, gaps: Any, count: int) -> int:
    """Describe `[at, end of buf)`, in which no record is left, as one or two gaps; return their number now."""
    end = len(buf)
    if is_cut(buf, at, length, base, head) and not is_zero(buf, at, end):
        gaps[count] = at, end, TRUNCATED
        return count + 1
    used = content_end(buf, at, end)
    for i in range(at, min(used, end - 7)):
        if is_blank(buf, i, length, head):
            gaps[count] = at, i, CORRUPT
            gaps[count + 1] = i, end, BLANK
            return count + 2
    if used > at:
        # A few zeros more likely belong to the damage than to unwritten space.
        used = end if end - used < 8 else used
        gaps[count] = at, used, CORRUPT
        count += 1
    if used < end:
        gaps[count] = used, end, ZERO_TAIL
        count += 1
    return count


@records.kernel
def walk(
    buf: Bytes, start: int, stop: int, length: int, base: int, head: int, room: int,
    starts: Any, sizes: Any, marks: Any, gaps: Any,
) -> tuple[int, int, int]:  # fmt: skip
    """Find records and gaps in `[start, stop)`; return (records, gaps, position reached).

    `stop` is a record start or the end of `buf`; `length` is that of the file, which may go on with zeros behind
    `buf`. `starts`, `sizes`, `marks` take the records (without entry headers), `gaps` rows of (start, end, reason).
    Stops early when one of them is full or `room` bytes of records were found: call again from the position reached.
    """
    end = len(buf)
    at = start
    count = lost = taken = 0
    while at < stop and count < len(starts) and lost + 2 <= len(gaps) and taken < room:
        size, mark = frame(buf, at, end, base, head)
        if size:
            starts[count], sizes[count], marks[count] = at + head, size - head, mark
            count += 1
            taken += size
            at += size
            continue
        behind = filler(buf, at, end, length, base, head)
        if behind > at:
            behind = min(behind, stop)
            gaps[lost] = at, behind, BLANK
            lost += 1
            at = behind
            continue
        behind = resync(buf, at, stop, base, head) if stop < end else resync(buf, at, end, base, head)
        if behind < end:
            gaps[lost] = at, behind, CORRUPT
            lost += 1
        else:
            lost = tail(buf, at, length, base, head, gaps, lost)
        at = behind
    return count, lost, at
