"""Keys compared with many others at once: see :mod:`onlinear.kernels.text.rank_sort`.

Two to four times as fast as a loop: VW text of words is read 1.15 to 1.23 times as fast as with one, the best of 60
rounds. With the sort of long rows for all it takes 1.3 times as long, CSV 1.2 times (benchmarks/kernel_pieces.py
rank_simd, rank_sort).
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils

from onlinear.kernels.compiler.inlining import llvm_for
from onlinear.kernels.text.rank_sort import LANES, REGISTERS, rank_group

_LANES = ir.VectorType(ir.IntType(32), LANES)


@llvm_for(rank_group)
def _rank_group(typing_context, keys, n, at, ranks):
    def emit(context, builder, signature, arguments):
        keys, ranks = (context.make_array(signature.args[k])(context, builder, arguments[k]).data for k in (0, 3))
        group = [builder.load(place, align=4) for place in registers_at(builder, keys, arguments[2])]
        counts = [cgutils.alloca_once_value(builder, _LANES([0] * LANES)) for _ in group]
        with cgutils.for_range(builder, arguments[1]) as loop:
            key = spread_out(builder, builder.load(builder.gep(keys, [loop.index])))
            for register, count in zip(group, counts, strict=True):
                before = builder.zext(builder.icmp_signed("<", key, register), _LANES)
                builder.store(builder.add(builder.load(count), before), count)
        for count, place in zip(counts, registers_at(builder, ranks, arguments[2]), strict=True):
            builder.store(builder.load(count), place, align=4)
        return context.get_dummy_value()

    return types.void(keys, types.int64, types.int64, ranks), emit


def registers_at(builder, numbers, at):
    """Where the registers of the group that begins at ``at`` are."""
    starts = [builder.add(at, at.type(LANES * k)) for k in range(REGISTERS)]
    return [builder.bitcast(builder.gep(numbers, [start]), _LANES.as_pointer()) for start in starts]


def spread_out(builder, key):
    """A key in every lane."""
    one = builder.insert_element(_LANES(ir.Undefined), key, ir.IntType(32)(0))
    return builder.shuffle_vector(one, _LANES(ir.Undefined), _LANES([0] * LANES))
