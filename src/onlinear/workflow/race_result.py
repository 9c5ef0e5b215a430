"""``onlinear.race``: configurations compared in one pass over a stream, and what came of it."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import TYPE_CHECKING, Any

from onlinear.errors import BadInput, Diverged, Refused
from onlinear.files.container import PathLike
from onlinear.files.models import pack_model
from onlinear.files.trained import Trained, save, save_without_recipe
from onlinear.learning.configuration import Configuration
from onlinear.learning.model import Model
from onlinear.learning.tasks import check_task_name
from onlinear.selection.configurations import as_configuration, check_task, usual, wanted_task
from onlinear.selection.race import Outcome, Race, rungs_of
from onlinear.selection.race_stream import RaceStream
from onlinear.selection.standings import Comparison, Standings
from onlinear.selection.winner import model_of, pass_start
from onlinear.streams.arrays import Arrays
from onlinear.streams.options import takes_read_options
from onlinear.streams.stream import OnBad, Stream, open_stream

if TYPE_CHECKING:
    from onlinear.plots.race import RaceDisplay


class RaceResult(Standings):
    """What a race came to: the configurations best first, their curves, and the model of each.

    ``places`` are the configurations with how far they have come; ``best`` is the one that won.
    """

    def __init__(self, race: Race, finishes: list[Outcome], track: RaceStream, how: Comparison) -> None:
        super().__init__(race.configurations, finishes, race.task, how)
        self._race = race
        self._track = track
        self._recipe = track.recipe

    def plot(self, ax: Any = None) -> RaceDisplay:
        """Draw the error of each configuration as examples went by, with Matplotlib."""
        from onlinear.plots.race import RaceDisplay

        return RaceDisplay.from_result(self, ax=ax)

    def save(self, path: PathLike, number: int | None = None) -> None:
        """Write the model of the winner, or of the configuration of this ``number``, for ``onlinear.load``.

        One that has run to the end of a progressive race is there already. With folds, or if it had stopped, there is
        no model of all rows: then it learns them once more, from the beginning, in as many passes.
        """
        training = self._training(self.places[0].finish.number if number is None else number)
        if isinstance(self._recipe.format, Arrays):  # no files, and no recipe for them
            save_without_recipe(path, *pack_model(training))
        else:
            save(path, Trained(training, self._recipe))

    def _training(self, number: int) -> Model:
        if not 0 <= number < len(self._race.configurations):
            raise Refused(f"there is no configuration {number}: choose one of 0 to {len(self.places) - 1}")
        if not self.how.folds and number in self._race.running:
            return model_of(self._race, number, self._track.ground, [(0, 0)])
        training, self._recipe = learned_alone(self._track, self._race.configurations[number], self.how.passes)
        return training


@takes_read_options()
def race(
    source: Any,
    configurations: Iterable[Any] | None = None,
    *,
    folds: int = 0,
    halving: bool = False,
    passes: int = 1,
    task: str | None = None,
    seed: int = 0,
    on_bad: OnBad | None = None,
    **options: Any,
) -> RaceResult:
    """Compare configurations in one pass: each predicts every example before it learns it.

    Every configuration comes out as if it had learned alone, to the bit; the rows are read once for all of them, after
    a look at the labels.

    Parameters
    ----------
    source : a stream, or what :func:`onlinear.open_stream` takes, with its options
    configurations : from :func:`onlinear.selection.configuration` or :func:`onlinear.selection.grid`, or dicts of their
        parameters; by default those that are usual
    folds : of a cross-validation: each row is judged by models that never learn it
    halving : stop the worse half at length/2, and of those before at length/4, length/8, ... down to 250 examples
    passes : over the rows, with folds; what counts is the last one
    task : "classification" or "regression"; by default what losses and labels look like
    seed : for the folds
    on_bad : called with every bad line instead of ending with the first one
    {options}

    >>> import numpy as np
    >>> from onlinear.selection import grid
    >>> X = np.random.default_rng(0).normal(size=(500, 3))
    >>> result = race(X, grid(loss="log_loss", rule=["adagrad", "normalised"]), target=X[:, 0] > 0.5)
    >>> result.best.name
    'log_loss, adagrad rate 0.1'
    """
    check_wishes(folds, passes, seed, task)
    given = None if configurations is None else [as_configuration(each) for each in configurations]
    track = RaceStream(open_source(source, options, on_bad), task or (wanted_task(given) if given else None))
    chosen = usual(track.task_name) if given is None else given
    check_task(chosen, track.task_name)
    if folds > track.look.rows:
        raise BadInput(f"{track.look.rows} rows cannot be cut in {folds} folds: take fewer folds")
    rungs = rungs_of(track.look.rows * passes, len(chosen)) if halving else ()
    runners = Race(chosen, track.task, track.features, folds=folds, rungs=rungs)
    run(runners, track, folds, passes, seed)
    finishes = runners.finishes()
    if not runners.running:
        raise Diverged("every configuration diverged: lower the rates, or scale the columns")
    return RaceResult(runners, finishes, track, Comparison(track.look.rows, folds, passes))


def check_wishes(folds: int, passes: int, seed: int, task: str | None) -> None:
    check_task_name(task)
    for name, number in (("folds", folds), ("passes", passes), ("seed", seed)):
        if not isinstance(number, Integral) or (name == "seed" and number < 0):
            raise Refused(f"{name} is {number!r:.60}: give a whole number of at least 0")
    if folds < 0 or folds == 1:
        raise Refused(f"a cross-validation of {folds} folds compares nothing: take 2 or more, or 0 for one pass")
    if passes < 1:
        raise Refused(f"{passes} passes learn nothing: take at least one")
    if passes > 1 and not folds:
        raise Refused("the error of a second pass is a training error, and compares nothing: take folds, or one pass")


def open_source(source: Any, options: dict[str, Any], on_bad: OnBad | None) -> Stream:
    if not isinstance(source, Stream):
        return open_stream(source, on_bad=on_bad, **options)
    said = [*options, *([] if on_bad is None else ["on_bad"])]
    if said:
        raise Refused(f"{', '.join(said)}: a stream is open already; say this to open_stream")
    return source


def run(runners: Race, track: RaceStream, folds: int, passes: int, seed: int) -> None:
    """The passes of a race."""
    track.start()
    for number in range(passes):
        if number:
            runners.end_pass()
        for examples in track.examples(folds, seed, quiet=number > 0):
            runners.learn(examples)


def learned_alone(track: RaceStream, one: Configuration, passes: int) -> tuple[Model, Any]:
    """What a configuration learns from all rows, and the recipe with what it has counted."""
    runner = Race([one], track.task, track.features)
    track.start()
    starts = []
    for number in range(passes):
        if number:
            runner.end_pass()
        starts.append(pass_start(runner, 0, track.ground))
        for examples in track.examples(quiet=True):
            runner.learn(examples)
    if not runner.running:
        raise Diverged(f"the configuration {one.name!r} diverged: there is no model of it")
    return model_of(runner, 0, track.ground, starts), track.recipe
