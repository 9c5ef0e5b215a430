"""Which of 64 bytes are what, compared at once: see :mod:`onlinear.kernels.text.byte_marks`."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

from llvmlite import ir
from numba import types

from onlinear.kernels.compiler.inlining import llvm_for
from onlinear.kernels.text.byte_marks import (
    BAR,
    BLANK,
    COLON,
    LINE_FEED,
    QUOTE,
    SLACK,
    breaks_in,
    cell_marks_in,
    line_ends_in,
    record_marks_in,
)

_BYTE, _WORD = ir.IntType(8), ir.IntType(64)
_BYTES = ir.VectorType(_BYTE, SLACK)


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


@llvm_for(cell_marks_in)
def _cell_marks_in(typing_context, text, at, delimiter):
    def emit(context, builder, signature, arguments):
        read = sixty_four(builder, arguments)
        delimiters = builder.icmp_unsigned("==", read, spread_out(builder, arguments[2]))
        ends = builder.or_(are(builder, read, LINE_FEED), delimiters)
        strange = builder.icmp_signed("<=", read, _BYTES([0] * SLACK))
        marks = [builder.bitcast(found, _WORD) for found in (ends, are(builder, read, QUOTE), strange)]
        return context.make_tuple(builder, signature.return_type, marks)

    return types.UniTuple(types.uint64, 3)(text, types.int64, types.uint64), emit


@llvm_for(record_marks_in)
def _record_marks_in(typing_context, text, at):
    def emit(context, builder, signature, arguments):
        read = sixty_four(builder, arguments)
        marks = [builder.bitcast(are(builder, read, byte), _WORD) for byte in (LINE_FEED, QUOTE)]
        return context.make_tuple(builder, signature.return_type, marks)

    return types.UniTuple(types.uint64, 2)(text, types.int64), emit


def sixty_four(builder, arguments):
    """The 64 bytes from a place on."""
    place = builder.bitcast(builder.gep(arguments[0], [arguments[1]]), _BYTES.as_pointer())
    return builder.load(place, align=1)


def are(builder, read, byte):
    return builder.icmp_unsigned("==", read, _BYTES([byte] * SLACK))


def spread_out(builder, word):
    """A byte, 64 times."""
    one = builder.insert_element(_BYTES(ir.Undefined), builder.trunc(word, _BYTE), ir.IntType(32)(0))
    return builder.shuffle_vector(one, _BYTES(ir.Undefined), ir.VectorType(ir.IntType(32), SLACK)([0] * SLACK))
