"""Several perceptrons in dual form that see the same rows: they share the kernel, and each makes its own updates.

Rows go through in blocks that begin at fixed example numbers, however the rows arrive. The scores of a block under the
hypotheses at its beginning are a few products of matrices (kept examples by block, then coefficients by that); what
the updates inside the block add is put to them one by one. Every product has the same shape, whether its tiles are full
or not, because products of other shapes may round otherwise: any chunking gives the same bits.
"""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from onlinear.data.products import products
from onlinear.errors import BadInput
from onlinear.learning.dual.forgetron import forget_oldest
from onlinear.learning.dual.kernel import Kernel
from onlinear.learning.dual.support import TILE, Support, add_zero_columns
from onlinear.learning.dual.versions import (
    Versions,
    average_coefficients,
    drawn_scores,
    last_coefficients,
    mean_votes,
    pocket_coefficients,
)
from onlinear.system.threads import each, one_blas_thread

#: rows of a block
BLOCK = 64


class Drop(NamedTuple):
    """What a budget took out of one perceptron, after it has shrunk the perceptron."""

    output: int
    shrink: float
    position: int
    amount: float


class Step(NamedTuple):
    """What one row of the block changed: with which amount it was added to each perceptron, and what that drove out."""

    place: int
    position: int
    amounts: np.ndarray
    drops: list[Drop]


class OutputPart(NamedTuple):
    """The places of the block that are learned now, and what is known of them."""

    start: int
    stop: int
    near: np.ndarray  # K of the block with itself
    far: list[np.ndarray]  # K of the kept examples with the block, by tile
    targets: np.ndarray  # by output and row
    importance: np.ndarray  # by row
    numbers: np.ndarray | None  # which rows they are, among those that come again
    radii: np.ndarray  # the largest K(x, x) up to each row


class Perceptrons:
    """The perceptrons of one classifier, one for each output; a mistake is ``target * score <= 0``.

    An example they are wrong on is added with its target times its importance. With ``budget`` each keeps at most so
    many examples (see :mod:`onlinear.learning.dual.forgetron`).
    """

    def __init__(self, kernel: Kernel, features: int, outputs: int, dtype: Any, budget: int | None = None) -> None:
        self.kernel = kernel
        self.budget = budget
        self.support = Support(features, outputs, kernel.dtype(np.dtype(dtype)))
        self.versions = [Versions() for _ in range(outputs)]
        self.examples = 0
        self.importance = 0.0  # of all examples so far: no sum of amounts is larger
        self.radius2 = 0.0  # the largest K(x, x) so far
        self.square = 0.0  # the largest x.x so far
        self.block = np.empty((0, features), self.support.rows.dtype)
        self.steps: list[Step] = []  # of the block that is not full yet: the coefficients do not have them
        self.positions: dict[int, int] = {}  # where a row is kept, by its number

    @property
    def outputs(self) -> int:
        return len(self.versions)

    # -------------------------------------------------------------- learning

    def check(self, rows: Any, importance: float = 0.0) -> None:
        """Refuse rows, of so much importance together, with which a sum of kernels could leave the range of numbers.

        Rows with NaN and infinity are among them.
        """
        square = max(self.square, largest_square(rows))
        room = float(np.finfo(self.support.rows.dtype).max) / (4.0 * (self.importance + importance + 1.0))
        if not max(square, self.kernel.largest(square)) < room:
            raise BadInput(
                f"the kernel of these rows may leave the range of {self.support.rows.dtype} numbers (the largest x.x "
                f"is {square:.3g}): scale the rows, or take a smaller degree or gamma"
            )

    def learn(
        self,
        rows: Any,
        targets: np.ndarray,
        importance: np.ndarray | None = None,
        order: np.ndarray | None = None,
        numbers: np.ndarray | None = None,
    ) -> np.ndarray:
        """Learn from rows, of which ``targets[row, output]`` are -1 or 1; answer the scores each had before.

        Each has an importance of 1 unless it is given. With ``order`` they are taken in that order. With ``numbers`` a
        row whose number comes again, and which still is the same, is the same example, kept once.
        """
        count = len(targets) if order is None else len(order)
        importance = np.ones(len(targets)) if importance is None else importance
        scores = np.empty((count, self.outputs))
        self.square = max(self.square, largest_square(rows))
        start = 0
        with one_blas_thread:
            while start < count:
                part = slice(start, min(start + BLOCK - self.examples % BLOCK, count))
                chosen = part if order is None else order[part]
                own = None if numbers is None else numbers[chosen]
                scores[part] = self._learn_part(dense(rows[chosen]), targets[chosen].T, importance[chosen], own)
                start = part.stop
        return scores

    def _learn_part(self, rows: np.ndarray, targets: np.ndarray, importance: np.ndarray, numbers: Any) -> np.ndarray:
        """Learn from rows that fit into the block."""
        first = self.examples % BLOCK
        block = self._block_with(rows, first)
        near = self.kernel.matrix(block, block)
        far = self._far(block)
        scores = self._scores_at_start(far)
        radii = np.maximum.accumulate([self.radius2, *near.diagonal()[first : first + len(rows)].tolist()])
        part = OutputPart(first, first + len(rows), near, far, targets, importance, numbers, radii[1:])
        self.block = block
        for step in self.steps:
            self._apply(step, scores, part, first)
        self._walk(scores, part)
        self.radius2 = float(radii[-1])
        self.examples += len(rows)
        self.importance = float(np.cumsum([self.importance, *importance.tolist()])[-1])
        if part.stop == BLOCK:
            self._close_block()
        return scores[:, first : part.stop].T

    def _block_with(self, rows: np.ndarray, first: int) -> np.ndarray:
        """The block with more rows in it; places that are free hold any row."""
        block = self.block.copy() if len(self.block) else np.repeat(rows[:1], BLOCK, axis=0)
        block = block.astype(self.support.rows.dtype, copy=False)
        block[first : first + len(rows)] = rows
        return block

    def _far(self, block: np.ndarray) -> list[np.ndarray]:
        """K of kept examples and block, tile by tile."""
        tiles = [self.support.rows[tile] for tile in self.support.tiles()]
        if callable(self.kernel.name):  # a user's function may mind being called by several threads
            return [self.kernel.matrix(tile, block) for tile in tiles]
        return each(lambda tile: self.kernel.matrix(tile, block), tiles)

    def _scores_at_start(self, far: list[np.ndarray]) -> np.ndarray:
        """The scores of the block under the hypotheses at its beginning: by output and place."""
        scores = np.zeros((self.outputs, BLOCK))
        for tile, alike in zip(self.support.tiles(), far, strict=True):
            scores += products(self.support.coefficients[tile].T, alike.T.astype(np.float64, copy=False))
        return scores

    def _walk(self, scores: np.ndarray, part: OutputPart) -> None:
        """Go from one mistake of the part to the next; ``scores`` become those before each row was learned."""
        place = part.start
        while place < part.stop:
            wrong = part.targets[:, place - part.start :] * scores[:, place : part.stop] <= 0.0
            ahead = int(wrong.any(axis=0).argmax())
            if not wrong[:, ahead].any():
                return
            place += ahead
            step = self._update(place, wrong[:, ahead], part)
            self.steps.append(step)
            place += 1
            self._apply(step, scores, part, place)

    def _update(self, place: int, wrong: np.ndarray, part: OutputPart) -> Step:
        """Add the row at ``place`` to the perceptrons that are wrong."""
        row = place - part.start
        amounts = np.where(wrong, part.targets[:, row] * part.importance[row], 0.0)
        position = self._keep(place, None if part.numbers is None else int(part.numbers[row]))
        time = self.examples - part.start + place
        drops = []
        for output in np.flatnonzero(wrong).tolist():
            versions = self.versions[output]
            versions.append(position, float(amounts[output]), time)
            if self.budget is not None and len(versions.positions) > self.budget:
                dropped = forget_oldest(versions, self.support, self.kernel, float(part.radii[row]))
                drops.append(Drop(output, *dropped))
        return Step(place, position, amounts, drops)

    def _keep(self, place: int, number: int | None) -> int:
        """The position of the row at ``place`` among the kept examples, where it may be already."""
        if number is None:
            return self.support.append(self.block[place])
        kept = self.positions.get(number)
        if kept is None or not np.array_equal(self.support.rows[kept], self.block[place]):
            kept = self.positions[number] = self.support.append(self.block[place])
        return kept

    def _apply(self, step: Step, scores: np.ndarray, part: OutputPart, start: int) -> None:
        """Bring the scores of the places from ``start`` on up to date with a step."""
        later = slice(start, part.stop)
        scores[:, later] += np.multiply.outer(step.amounts, part.near[step.place, later])
        for output, shrink, position, amount in step.drops:
            scores[output, later] *= shrink
            scores[output, later] -= amount * self._alike(position, part)[later]

    def _alike(self, position: int, part: OutputPart) -> np.ndarray:
        """K of a kept example and the block, also if it is of the block itself."""
        for step in self.steps:
            if step.position == position:
                return part.near[step.place]
        return part.far[position // TILE][position % TILE]

    def _close_block(self) -> None:
        """Put the steps of the block to the coefficients: the next block begins."""
        if self.budget is None:
            for step in self.steps:
                self.support.coefficients[step.position] += step.amounts
        elif self.steps:
            self._tidy()
        self.steps = []

    def _tidy(self) -> None:
        """Forget the examples that are in no perceptron any more."""
        used = sorted({position for versions in self.versions for position in versions.positions})
        moved = {position: place for place, position in enumerate(used)}
        for versions in self.versions:
            versions.positions = [moved[position] for position in versions.positions]
        self.positions = {number: moved[place] for number, place in self.positions.items() if place in moved}
        self.support.keep(np.array(used, dtype=np.int64))
        self.support.coefficients[: len(used)] = self.coefficients()

    # -------------------------------------------------------------- changing

    def add_output(self) -> None:
        """One more output, which has learned what the last has."""
        self.support.add_output()
        self.versions.append(self.versions[-1].copy())
        self.steps = [with_output(step) for step in self.steps]

    def widen(self, features: int) -> None:
        """Make room for more features, which were 0 so far."""
        self.support.widen(features)
        self.block = add_zero_columns(self.block, features)

    # -------------------------------------------------------------- answering

    def forget_chosen(self) -> None:
        """Leave the pocket to the longest run, which a ratchet had not: it knows nothing of rows to come."""
        for versions in self.versions:
            versions.chosen = None

    def frozen(self) -> Perceptrons:
        """The same as of now, which only answers; what is kept is shared, as far as nothing will change it."""
        twin = copy.copy(self)
        twin.versions = [versions.copy() for versions in self.versions]
        twin.support = copy.copy(self.support)
        if self.budget is not None:  # which moves rows
            twin.support.rows = self.support.rows.copy()
        return twin

    def coefficients(self) -> np.ndarray:
        """The coefficient of each kept example in the last version of each output."""
        columns = [last_coefficients(versions.arrays(), self.support.size) for versions in self.versions]
        return np.column_stack(columns)

    def scores(self, rows: Any, outputs: list[int], vote: str, moments: np.ndarray | None = None) -> np.ndarray:
        """What these outputs answer for rows, by one of ``VOTES``; by "random" as they were at ``moments``."""
        answers = np.empty((rows.shape[0], len(outputs)))
        ask = self._answer_by(outputs, vote)
        with one_blas_thread:
            for start in range(0, len(answers), BLOCK):
                part = dense(rows[start : start + BLOCK])
                block = np.repeat(part[:1], BLOCK, axis=0).astype(self.support.rows.dtype, copy=False)
                block[: len(part)] = part
                alike = np.concatenate([*self._far(block), np.empty((0, BLOCK))])
                then = None if moments is None else moments[start : start + BLOCK]
                answers[start : start + BLOCK] = ask(alike, len(part), then).T
        return answers

    def _answer_by(self, outputs: list[int], vote: str) -> Any:
        """A function of K (all tiles by a block), the number of rows asked, and moments: scores by output and row."""
        room, examples = -(-self.support.size // TILE) * TILE, self.examples
        updates = [self.versions[output].arrays() for output in outputs]
        if vote == "vote":
            return lambda alike, asked, _: np.stack([mean_votes(one, alike[:, :asked], examples) for one in updates])
        if vote == "random":
            return lambda alike, asked, then: np.stack([drawn_scores(one, alike[:, :asked], then) for one in updates])
        if vote == "average":
            table = np.stack([average_coefficients(one, room, examples) for one in updates])
        elif vote == "pocket":
            chosen = [self.versions[output].chosen for output in outputs]
            table = np.stack(
                [pocket_coefficients(one, room, examples, best) for one, best in zip(updates, chosen, strict=True)]
            )
        else:
            table = np.stack([last_coefficients(one, room) for one in updates])
        return lambda alike, asked, _: products(table, alike.T)[:, :asked]


def with_output(step: Step) -> Step:
    """The same step where the last output has a twin behind it."""
    last = len(step.amounts) - 1
    twins = [drop._replace(output=last + 1) for drop in step.drops if drop.output == last]
    return step._replace(amounts=np.append(step.amounts, step.amounts[-1]), drops=[*step.drops, *twins])


def largest_square(rows: Any) -> float:
    """The largest ``x.x`` of the rows, which may be infinite."""
    if not rows.shape[0]:
        return 0.0
    with np.errstate(over="ignore"):
        if scipy.sparse.issparse(rows):
            return float(rows.multiply(rows).sum(axis=1, dtype=np.float64).max())
        return float(np.einsum("ij,ij->i", rows, rows, dtype=np.float64).max())


def dense(rows: Any) -> np.ndarray:
    return rows.toarray() if scipy.sparse.issparse(rows) else np.asarray(rows)
