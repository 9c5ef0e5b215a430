"""Where everything is that learning or answering one dict row needs: an array of addresses and sizes."""

# Compiled functions carry no annotations: Numba infers the types, mypy has nothing to go by.
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

import numpy as np
from numba import carray

from onlinear.kernels.compiler.cpython import pointer
from onlinear.kernels.compiler.inlining import inlined
from onlinear.kernels.dicts.name_index import NameIndex
from onlinear.kernels.text.entries import DIGITS, Entries

# entries of ``place``
TABLE, BIAS, COUNTERS_AT, COLUMNS, VALUES, SMALL = 0, 1, 2, 3, 4, 5  # addresses
FEATURES, OUTPUTS, SLOTS, ROOM = 6, 7, 8, 9  # sizes
POSITIONS, CATEGORIES, BITS = 10, 11, 12  # the names
FIRST, CLASSES = 13, 14  # of the labels
GATHERED = 15  # address of room for the cells of one row: see onlinear.kernels.learn.state
SCORES = 16  # address of room for the scores of an answer
CAP = 17  # how many names there may be
ROW_SCRATCH = 18  # address of room for reading a row: see entries_at
SLOTS_AT, SLOT_COUNT, HELD, HELD_COUNT, ENTERED = 19, 20, 21, 22, 23  # the name index: addresses and sizes
NUMBERS = 24  # address of the fields of loss, rule and options
GIVEN = 25  # how many entries of a row are in the scratch arrays, where it is not a dict
SEQUENCE, LOOKED = 26, 27  # address of the learner's sequence lock; its generation when ``place`` was made, or BUSY
READER, KNOWN_READER = 28, 29  # addresses of the functions that read a dict: for learning, for an answer
SCRATCH_AT = 30  # address of a cell rule's scratch
GATHERED_ROOM, SCRATCH_ROOM = 31, 32  # how many entries the two have room for
OUTPUT_ROOM = 33  # how many outputs the table has room for
KINDS = 34  # address of a dict from names to what has to stand there, a number or a text; 0 if there is none
CHANGED, BLOCKS = 35, 36  # address of the map of columns that have changed, and how many blocks it has
PLACE = 37

#: words of scratch for each entry of a row that is read
ROW_WORDS = 5


@inlined
def name_index_at(place):
    return NameIndex(
        place[POSITIONS],
        place[CATEGORIES],
        carray(pointer(place[SLOTS_AT]), place[SLOT_COUNT], np.int64),
        place[SLOTS_AT],
        carray(pointer(place[HELD]), place[HELD_COUNT], np.int64),
        place[HELD],
        carray(pointer(place[ENTERED]), 1, np.int64),
    )


@inlined
def entries_at(place):
    """The scratch for reading a row: ROW_WORDS for each entry that it has room for, and DIGITS."""
    room, scratch = place[ROOM], place[ROW_SCRATCH]
    return Entries(
        columns=carray(pointer(place[COLUMNS]), room, np.uint32),
        values=carray(pointer(place[VALUES]), room, np.float64),
        names=carray(pointer(scratch), room, np.int64),
        items=carray(pointer(scratch + 8 * room), room, np.int64),
        keys=carray(pointer(scratch + 16 * room), 2 * room, np.int64),
        kept=carray(pointer(scratch + 32 * room), room, np.float64),
        starts=carray(pointer(scratch + 40 * room), DIGITS, np.int64),
    )
