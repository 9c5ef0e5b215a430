"""Bring the cells of a sparse row side by side, and back.

A cell's numbers lie together in the table. Side by side, slot after slot, whole vector registers of them are stretched
and moved at once. Two or four numbers from each of four cells become four numbers of each slot, in registers.

Sparse rows of 68 entries are learned 1.5 times as fast by AdaGrad as with a loop over the slots
(benchmarks/kernel_pieces.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from onlinear.data.rows import fill_up, gather, scatter
from onlinear.kernels.compiler.inlining import inlined, overload_of

FOUR = 4
NUMBER = 8  # bytes
_FOUR = ir.VectorType(ir.DoubleType(), FOUR)


def turner_in(slots: int) -> Any:
    """From the addresses of four cells with so many slots to as many quadruples, so many bytes apart."""

    @intrinsic
    def turn(typing: Any, a: Any, b: Any, c: Any, d: Any, side: Any, apart: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            cell = ir.VectorType(ir.DoubleType(), slots)
            a, b, c, d = (builder.load(place_of(builder, address, cell), align=NUMBER) for address in arguments[:FOUR])
            low, high = joined(builder, [a, b]), joined(builder, [c, d])
            for slot, place in enumerate(places_of(builder, *arguments[FOUR:], slots)):
                numbers = shuffled(builder, low, high, range(slot, FOUR * slots, slots))
                builder.store(numbers, place, align=NUMBER)
            return context.get_dummy_value()

        return types.void(*[types.int64] * 6), emit

    return turn


def turner_out(slots: int) -> Any:
    """The inverse of :func:`turner_in`."""

    @intrinsic
    def turn(typing: Any, a: Any, b: Any, c: Any, d: Any, side: Any, apart: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            cell = ir.VectorType(ir.DoubleType(), slots)
            places = places_of(builder, *arguments[FOUR:], slots)
            quadruples = [builder.load(place, align=NUMBER) for place in places]
            half = slots // 2
            low, high = joined(builder, quadruples[:half]), joined(builder, quadruples[half:])
            for k, address in enumerate(arguments[:FOUR]):
                numbers = shuffled(builder, low, high, range(k, FOUR * slots, FOUR))
                builder.store(numbers, place_of(builder, address, cell), align=NUMBER)
            return context.get_dummy_value()

        return types.void(*[types.int64] * 6), emit

    return turn


def places_of(builder: Any, side: Any, apart: Any, slots: int) -> list[Any]:
    """Where the quadruples of the slots are."""
    addresses = [builder.add(side, builder.mul(apart, apart.type(slot))) for slot in range(slots)]
    return [place_of(builder, address, _FOUR) for address in addresses]


def place_of(builder: Any, address: Any, kind: Any) -> Any:
    return builder.inttoptr(address, kind.as_pointer())


def joined(builder: Any, vectors: list[Any]) -> Any:
    """One vector, or two as one."""
    if len(vectors) == 1:
        return vectors[0]
    one, other = vectors
    return shuffled(builder, one, other, range(2 * one.type.count))


def shuffled(builder: Any, one: Any, other: Any, order: Any) -> Any:
    mask = ir.VectorType(ir.IntType(32), len(order))(list(order))
    return builder.shuffle_vector(one, other, mask)


def turning(turner: Any, move: Any) -> Any:
    """The loop of :func:`gather` or :func:`scatter`: four or two slots of four entries at once, and the rest."""
    gathers = turner is turner_in
    turn_four, turn_two = turner(4), turner(2)

    def implementation(columns, table, m, gathered):  # type: ignore
        slots, room = table.shape[2], gathered.shape[2]
        quads, pairs = slots - slots % 4, slots - slots % 2
        fours = len(columns) - len(columns) % FOUR
        width, apart = np.int64(NUMBER * table.shape[1] * slots), np.int64(NUMBER * room)
        cell = np.int64(table.ctypes.data) + NUMBER * m * slots
        side = np.int64(gathered.ctypes.data) + apart * m * slots
        # the two loops differ in their turn only, but one function for both made them 3 % slower
        for slot in range(0, quads, 4):
            for k in range(0, fours, FOUR):
                turn_four(
                    cell + NUMBER * slot + np.int64(columns[k]) * width,
                    cell + NUMBER * slot + np.int64(columns[k + 1]) * width,
                    cell + NUMBER * slot + np.int64(columns[k + 2]) * width,
                    cell + NUMBER * slot + np.int64(columns[k + 3]) * width,
                    side + slot * apart + NUMBER * k,
                    apart,
                )
        for slot in range(quads, pairs, 2):
            for k in range(0, fours, FOUR):
                turn_two(
                    cell + NUMBER * slot + np.int64(columns[k]) * width,
                    cell + NUMBER * slot + np.int64(columns[k + 1]) * width,
                    cell + NUMBER * slot + np.int64(columns[k + 2]) * width,
                    cell + NUMBER * slot + np.int64(columns[k + 3]) * width,
                    side + slot * apart + NUMBER * k,
                    apart,
                )
        for k in range(fours):
            for slot in range(pairs, slots):
                move(columns[k], table, m, slot, gathered, k)
        for k in range(fours, len(columns)):
            for slot in range(slots):
                move(columns[k], table, m, slot, gathered, k)
        if gathers:
            for slot in range(slots):
                fill_up(gathered[m, slot], len(columns))

    return implementation


@inlined
def bring(column: Any, table: Any, m: int, slot: int, gathered: Any, k: int) -> None:
    gathered[m, slot, k] = table[column, m, slot]


@inlined
def put_back(column: Any, table: Any, m: int, slot: int, gathered: Any, k: int) -> None:
    table[column, m, slot] = gathered[m, slot, k]


@overload_of(gather)
def _gather(columns: Any, table: Any, m: Any, gathered: Any) -> Any:
    return turning(turner_in, bring)


@overload_of(scatter)
def _scatter(columns: Any, table: Any, m: Any, gathered: Any) -> Any:
    return turning(turner_out, put_back)
