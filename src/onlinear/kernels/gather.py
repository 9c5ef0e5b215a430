"""Bring the cells of a sparse row side by side, and back.

A cell's numbers lie together in the table. Side by side, slot after slot, whole vector registers of them are stretched
and moved at once. Pairs of numbers from four cells become four numbers of either slot, in registers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload, register_jitable

from onlinear.rows import fill_up, gather, scatter

FOUR = 4
NUMBER = 8  # bytes
_PAIR = ir.VectorType(ir.DoubleType(), 2)
_QUAD = ir.VectorType(ir.DoubleType(), FOUR)
_EVEN, _ODD = [0, 2, 4, 6], [1, 3, 5, 7]


@intrinsic
def turn_in(typing: Any, a: Any, b: Any, c: Any, d: Any, first: Any, second: Any) -> Any:
    """From the addresses of four pairs to two quadruples: their first numbers and their second ones."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        a, b, c, d = (builder.load(place_of(builder, address, _PAIR), align=NUMBER) for address in arguments[:FOUR])
        low, high = shuffled(builder, a, b, range(4)), shuffled(builder, c, d, range(4))
        for order, address in ((_EVEN, arguments[4]), (_ODD, arguments[5])):
            builder.store(shuffled(builder, low, high, order), place_of(builder, address, _QUAD), align=NUMBER)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 6), emit


@intrinsic
def turn_out(typing: Any, a: Any, b: Any, c: Any, d: Any, first: Any, second: Any) -> Any:
    """The inverse of :func:`turn_in`."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        first, second = (builder.load(place_of(builder, address, _QUAD), align=NUMBER) for address in arguments[4:])
        for k, address in enumerate(arguments[:FOUR]):
            pair = shuffled(builder, first, second, [k, FOUR + k])
            builder.store(pair, place_of(builder, address, _PAIR), align=NUMBER)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 6), emit


def place_of(builder: Any, address: Any, kind: Any) -> Any:
    return builder.inttoptr(address, kind.as_pointer())


def shuffled(builder: Any, one: Any, other: Any, order: Any) -> Any:
    mask = ir.VectorType(ir.IntType(32), len(order))(list(order))
    return builder.shuffle_vector(one, other, mask)


def turning(turn: Any, move: Any) -> Any:
    """The loop of :func:`gather` or :func:`scatter`: pairs of slots of four entries at once, and the rest."""
    gathers = turn is turn_in

    def implementation(columns, table, m, near):  # type: ignore
        slots, room = table.shape[2], near.shape[2]
        fours, pairs = len(columns) - len(columns) % FOUR, slots - slots % 2
        width = np.int64(NUMBER * table.shape[1] * slots)
        for slot in range(0, pairs, 2):
            cell = np.int64(table.ctypes.data) + NUMBER * (m * slots + slot)
            side = np.int64(near.ctypes.data) + NUMBER * (m * slots + slot) * room
            for k in range(0, fours, FOUR):
                turn(
                    cell + np.int64(columns[k]) * width,
                    cell + np.int64(columns[k + 1]) * width,
                    cell + np.int64(columns[k + 2]) * width,
                    cell + np.int64(columns[k + 3]) * width,
                    side + NUMBER * k,
                    side + NUMBER * (room + k),
                )
        for k in range(fours):
            for slot in range(pairs, slots):
                move(columns[k], table, m, slot, near, k)
        for k in range(fours, len(columns)):
            for slot in range(slots):
                move(columns[k], table, m, slot, near, k)
        if gathers:
            for slot in range(slots):
                fill_up(near[m, slot], len(columns))

    return implementation


@register_jitable(forceinline=True)
def bring(column: Any, table: Any, m: int, slot: int, near: Any, k: int) -> None:
    near[m, slot, k] = table[column, m, slot]


@register_jitable(forceinline=True)
def put_back(column: Any, table: Any, m: int, slot: int, near: Any, k: int) -> None:
    table[column, m, slot] = near[m, slot, k]


@overload(gather, strict=False, jit_options={"forceinline": True})
def _gather(columns: Any, table: Any, m: Any, near: Any) -> Any:
    return turning(turn_in, bring)


@overload(scatter, strict=False, jit_options={"forceinline": True})
def _scatter(columns: Any, table: Any, m: Any, near: Any) -> Any:
    return turning(turn_out, put_back)
