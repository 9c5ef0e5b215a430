"""Which of 64 bytes are what, compared at once: see :mod:`onlinear.kernels.text.byte_marks`.

svmlight text is read 1.5 times as fast as with a loop over the bytes (benchmarks/kernel_pieces.py). What CSV asks
gained nothing, and is a loop.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

from llvmlite import ir
from numba import types

from onlinear.kernels.compiler.inlining import llvm_for
from onlinear.kernels.text.byte_marks import BAR, BLANK, COLON, LINE_FEED, SLACK, breaks_in, line_ends_in

_WORD = ir.IntType(64)
_BYTES = ir.VectorType(ir.IntType(8), SLACK)


@llvm_for(breaks_in)
def _breaks_in(typing_context, text, at):
    def emit(context, builder, signature, arguments):
        read = sixty_four(builder, arguments)
        found = builder.icmp_unsigned("<=", read, _BYTES([BLANK] * SLACK))
        for break_ in (COLON, BAR):
            found = builder.or_(found, are(builder, read, break_))
        return builder.bitcast(found, _WORD)

    return types.uint64(text, types.int64), emit


@llvm_for(line_ends_in)
def _line_ends_in(typing_context, text, at):
    def emit(context, builder, signature, arguments):
        return builder.bitcast(are(builder, sixty_four(builder, arguments), LINE_FEED), _WORD)

    return types.uint64(text, types.int64), emit


def sixty_four(builder, arguments):
    """The 64 bytes from a place on."""
    place = builder.bitcast(builder.gep(arguments[0], [arguments[1]]), _BYTES.as_pointer())
    return builder.load(place, align=1)


def are(builder, read, byte):
    return builder.icmp_unsigned("==", read, _BYTES([byte] * SLACK))
