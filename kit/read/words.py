"""Unaligned 8-byte loads and stores for the kernels, which numba itself does not offer. Nothing here checks bounds: callers must."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import config, njit, types
from numba.extending import intrinsic

if TYPE_CHECKING or config.DISABLE_JIT:

    def load64(buf: Any, at: int) -> Any:
        """Return the 8 bytes at `at` as a little-endian number."""
        if at < 0 or at + 8 > len(buf):
            raise IndexError(at)
        return np.uint64(int.from_bytes(bytes(buf[at : at + 8]), "little"))

    def store64(buf: Any, at: int, word: Any) -> None:
        """Write 8 bytes at `at`."""
        if at < 0 or at + 8 > len(buf):
            raise IndexError(at)
        buf[at : at + 8] = np.frombuffer(int(word).to_bytes(8, "little"), np.uint8)

    def low_byte(word: Any) -> int:
        """Return the number of the lowest byte with a bit set; `word` must not be 0."""
        value = int(word)
        return ((value & -value).bit_length() - 1) >> 3

else:
    from llvmlite import ir

    def _pointer(context, builder, signature, args):
        array = context.make_array(signature.args[0])(context, builder, args[0])
        spot = builder.gep(array.data, [args[1]])
        return builder.bitcast(spot, ir.IntType(64).as_pointer())

    @intrinsic
    def load64(typing_context, buf, at):
        def codegen(context, builder, signature, args):
            return builder.load(_pointer(context, builder, signature, args), align=1)

        return types.uint64(buf, types.intp), codegen

    @intrinsic
    def store64(typing_context, buf, at, word):
        def codegen(context, builder, signature, args):
            builder.store(args[2], _pointer(context, builder, signature, args), align=1)
            return context.get_dummy_value()

        return types.void(buf, types.intp, types.uint64), codegen

    @intrinsic
    def _trailing_zeros(typing_context, word):
        def codegen(context, builder, signature, args):
            return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

        return types.uint64(types.uint64), codegen

    @njit(inline="always")
    def low_byte(word):
        return np.int64(_trailing_zeros(word) >> np.uint64(3))


LOW = np.uint64(0x0101010101010101)
HIGH = np.uint64(0x8080808080808080)
TWOS = np.uint64(0x0202020202020202)
CONTROL = np.uint64(0xFCFCFCFCFCFCFCFC)
"""A byte is 0 under it if it may be a separator (0 to 3)."""
ONE = np.uint64(1)


@njit(inline="always")
def zero_bytes(word: Any) -> Any:
    """Return a word whose lowest set bit is in the lowest zero byte of `word`; 0 if there is none."""
    return (word - LOW) & ~word & HIGH


@njit(inline="always")
def keep(word: Any, count: int) -> Any:
    """Clear all but the lowest `count` (0 to 7) bytes."""
    return word & ((ONE << np.uint64(8 * count)) - ONE)
