"""Unaligned loads and stores of 8 bytes and comparisons of 32 bytes at once, which numba does not offer. Nothing here
checks bounds: callers must.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from llvmlite import binding
from numba import config, njit, types
from numba.extending import intrinsic

FOLDS: Final = not config.DISABLE_JIT and bool(binding.get_host_cpu_features().get("pclmul"))  # type: ignore[attr-defined]
"""Whether `fold` is one instruction on this processor; it must not be called otherwise."""

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

    def big32(buf: Any, at: int) -> int:
        """Return the 4 bytes at `at` as a signed big-endian number."""
        if at < 0 or at + 4 > len(buf):
            raise IndexError(at)
        return int.from_bytes(bytes(buf[at : at + 4]), "big", signed=True)

    def big64(buf: Any, at: int) -> int:
        """Return the 8 bytes at `at` as a signed big-endian number."""
        if at < 0 or at + 8 > len(buf):
            raise IndexError(at)
        return int.from_bytes(bytes(buf[at : at + 8]), "big", signed=True)

    def fetch(buf: Any, at: int) -> None:
        """Prefetch the cache line at `at`, which may be any position."""

    def match32(buf: Any, at: int, byte: Any) -> Any:
        """Return a bit for each of the 32 bytes at `at` that is `byte`, the first lowest."""
        if at < 0 or at + 32 > len(buf):
            raise IndexError(at)
        return np.uint64(sum(1 << i for i in range(32) if buf[at + i] == byte))

    def same32(buf: Any, a: int, b: int) -> Any:
        """Return a bit for each of the 32 bytes at `a` that is the one at `b`, the first lowest."""
        if min(a, b) < 0 or max(a, b) + 32 > len(buf):
            raise IndexError(a, b)
        return np.uint64(sum(1 << i for i in range(32) if buf[a + i] == buf[b + i]))

    def signs32(buf: Any, at: int) -> Any:
        """Return a bit for each of the 32 bytes at `at` that is not ASCII, the first lowest."""
        if at < 0 or at + 32 > len(buf):
            raise IndexError(at)
        return np.uint64(sum(1 << i for i in range(32) if buf[at + i] > 127))

    def copy32(into: Any, put: int, buf: Any, at: int) -> None:
        """Copy 32 bytes."""
        if min(put, at) < 0 or at + 32 > len(buf) or put + 32 > len(into):
            raise IndexError(at, put)
        into[put : put + 32] = buf[at : at + 32]

    def fold(buf: Any, at: int, count: int, first: Any, second: Any, by_first: Any, by_second: Any) -> tuple[Any, Any]:
        """Return 16 bytes (as two words) after `count` blocks of 16 bytes from `at` on: each time both words are multiplied by their own factor
        without carrying, and the sum of the products and the block takes their place.
        """
        for block in range(count):
            found = int.from_bytes(bytes(buf[at + 16 * block : at + 16 * block + 16]), "little")
            for word, factor in ((int(first), int(by_first)), (int(second), int(by_second))):
                for bit in range(64):
                    found ^= (word << bit) if factor >> bit & 1 else 0
            first, second = np.uint64(found & (2**64 - 1)), np.uint64(found >> 64)
        return first, second

    def low_bit(word: Any) -> int:
        """Return the number of the lowest bit set; `word` must not be 0."""
        value = int(word)
        return (value & -value).bit_length() - 1

else:
    from llvmlite import ir
    from numba.core import cgutils

    def _pointer(context, builder, signature, args, bits=64):
        array = context.make_array(signature.args[0])(context, builder, args[0])
        spot = builder.gep(array.data, [args[1]])
        return builder.bitcast(spot, ir.IntType(bits).as_pointer())

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
    def big32(typing_context, buf, at):
        def codegen(context, builder, signature, args):
            word = builder.load(_pointer(context, builder, signature, args, 32), align=1)
            return builder.sext(builder.bswap(word), ir.IntType(64))

        return types.int64(buf, types.intp), codegen

    @intrinsic
    def big64(typing_context, buf, at):
        def codegen(context, builder, signature, args):
            return builder.bswap(builder.load(_pointer(context, builder, signature, args), align=1))

        return types.int64(buf, types.intp), codegen

    @intrinsic
    def fetch(typing_context, buf, at):
        def codegen(context, builder, signature, args):
            spot = builder.bitcast(_pointer(context, builder, signature, args, 8), ir.IntType(8).as_pointer())
            number = ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [spot.type, number, number, number])
            call = builder.module.declare_intrinsic("llvm.prefetch", (spot.type,), kind)
            # To read, to keep in every cache, data.
            builder.call(call, [spot, number(0), number(3), number(1)])
            return context.get_dummy_value()

        return types.void(buf, types.intp), codegen

    _BYTES = ir.VectorType(ir.IntType(8), 32)

    def _lanes(context, builder, signature, args):
        array = context.make_array(signature.args[0])(context, builder, args[0])
        return builder.bitcast(builder.gep(array.data, [args[1]]), _BYTES.as_pointer())

    def _bits(builder, lanes):
        return builder.zext(builder.bitcast(lanes, ir.IntType(32)), ir.IntType(64))

    @intrinsic
    def match32(typing_context, buf, at, byte):
        def codegen(context, builder, signature, args):
            lanes = builder.load(_lanes(context, builder, signature, args), align=1)
            same = builder.insert_element(ir.Constant(_BYTES, ir.Undefined), args[2], ir.IntType(32)(0))
            every = ir.Constant(ir.VectorType(ir.IntType(32), 32), [0] * 32)
            return _bits(builder, builder.icmp_unsigned("==", lanes, builder.shuffle_vector(same, same, every)))

        return types.uint64(buf, types.intp, types.uint8), codegen

    @intrinsic
    def same32(typing_context, buf, a, b):
        def codegen(context, builder, signature, args):
            kind = types.void(*signature.args[:2])
            one, other = (builder.load(_lanes(context, builder, kind, [args[0], spot]), align=1) for spot in args[1:])
            return _bits(builder, builder.icmp_unsigned("==", one, other))

        return types.uint64(buf, types.intp, types.intp), codegen

    @intrinsic
    def signs32(typing_context, buf, at):
        def codegen(context, builder, signature, args):
            lanes = builder.load(_lanes(context, builder, signature, args), align=1)
            return _bits(builder, builder.icmp_signed("<", lanes, ir.Constant(_BYTES, [0] * 32)))

        return types.uint64(buf, types.intp), codegen

    @intrinsic
    def copy32(typing_context, into, put, buf, at):
        def codegen(context, builder, signature, args):
            to, where = signature.args[:2], signature.args[2:]
            lanes = builder.load(_lanes(context, builder, types.void(*where), args[2:]), align=1)
            builder.store(lanes, _lanes(context, builder, types.void(*to), args[:2]), align=1)
            return context.get_dummy_value()

        return types.void(into, types.intp, buf, types.intp), codegen

    @intrinsic
    def fold(typing_context, buf, at, count, first, second, by_first, by_second):
        def codegen(context, builder, signature, args):
            lane, number = ir.IntType(64), ir.IntType(32)
            pair = ir.VectorType(lane, 2)

            def paired(*words):
                vector = ir.Constant(pair, ir.Undefined)
                for n, word in enumerate(words):
                    vector = builder.insert_element(vector, word, number(n))
                return vector

            # Kept in one register from block to block: moving the words in and out takes longer than multiplying them.
            held = cgutils.alloca_once_value(builder, paired(*args[3:5]))
            if FOLDS:
                kind = ir.FunctionType(pair, (pair, pair, ir.IntType(8)))
                multiply = builder.module.declare_intrinsic("llvm.x86.pclmulqdq", (), kind)
                factors = paired(*args[5:7])
                start = _pointer(context, builder, signature, args, 8)
                with cgutils.for_range(builder, args[2]) as loop:
                    spot = builder.gep(start, [builder.mul(loop.index, loop.index.type(16))])
                    found = builder.load(builder.bitcast(spot, pair.as_pointer()), align=1)
                    for half in (0x00, 0x11):
                        found = builder.xor(
                            found, builder.call(multiply, [builder.load(held), factors, ir.IntType(8)(half)])
                        )
                    builder.store(found, held)
            parts = [builder.extract_element(builder.load(held), number(n)) for n in (0, 1)]
            return context.make_tuple(builder, signature.return_type, parts)

        return types.UniTuple(types.uint64, 2)(buf, types.intp, types.intp, *[types.uint64] * 4), codegen

    @intrinsic
    def _trailing_zeros(typing_context, word):
        def codegen(context, builder, signature, args):
            return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

        return types.uint64(types.uint64), codegen

    @njit(inline="always")
    def low_bit(word):
        return np.int64(_trailing_zeros(word))


HIGH = np.uint64(0x8080808080808080)
ONE = np.uint64(1)


@njit(inline="always")
def keep(word: Any, count: int) -> Any:
    """Clear all but the lowest `count` (0 to 7) bytes."""
    return word & ((ONE << np.uint64(8 * count)) - ONE)
