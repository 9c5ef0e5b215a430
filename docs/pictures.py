"""Draw the images of docs/pictures.md into docs/images.

python docs/pictures.py              # all
python docs/pictures.py proof trace  # some
"""

from __future__ import annotations

import argparse
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from PIL import Image

from onlinear import KernelPerceptron, MarginPerceptron, OnlineClassifier, Perceptron, race
from onlinear.descent import gradient_descent, mean_loss, newton, second_order_sgd, sgd
from onlinear.losses import Logistic
from onlinear.plots import (
    BoundaryDisplay,
    BoundaryPathDisplay,
    DescentDisplay,
    LossCurveDisplay,
    LossesDisplay,
    MarginBoxDisplay,
    MistakeBoundDisplay,
    OrdersDisplay,
    OscillationDisplay,
    ProofDisplay,
    TraceDisplay,
    UpdateDisplay,
)
from onlinear.rules import SGD, Constant
from onlinear.selection import grid
from onlinear.streams.synthetic import Noisy, Separable

FOLDER = Path(__file__).parent / "images" / "pictures"
DPI = 100
SIZE = (5.6, 3.8)  # inches
SQUARE = (4.4, 4.2)
WIDE = (8.4, 3.6)
#: an image keeps so many colours: enough for lines and letters, and a third of the bytes
COLOURS = 64
#: rows that a course writes on the board
BOARD = (np.array([[-3.0, 3.0], [-3.0, 1.0], [1.0, -1.0], [0.0, 3.0]]), [-1, -1, 1, 1])


def axes(size: tuple[float, float] = SIZE, columns: int = 1) -> Any:
    from matplotlib import pyplot

    return pyplot.subplots(1, columns, figsize=size, layout="constrained")[1]


def rows_of(stream: Any) -> Any:
    return next(stream.arrays(stream.n))


def losses() -> Any:
    return LossesDisplay.from_losses(ax=axes()).figure_


def update() -> Any:
    return UpdateDisplay.from_example([2.0, 0.6], [-1.0, 2.0], 1, ax=axes(SQUARE)).figure_


def boundary() -> Any:
    X, y = rows_of(Separable(n=80, d=2, margin=0.1, seed=3))
    model = MarginPerceptron(2.0, fit_intercept=False).fit(X, y)
    return BoundaryDisplay.from_estimator(model, X, y, normal=True, ax=axes(SQUARE)).figure_


def kernel() -> Any:
    X = np.random.default_rng(0).normal(size=(120, 2))
    length = np.linalg.norm(X, axis=1)
    X, length = X[(length < 0.9) | (length > 1.2)], length[(length < 0.9) | (length > 1.2)]
    model = KernelPerceptron("rbf", vote="last", max_iter=100)
    return BoundaryDisplay.from_estimator(model.fit(X, length < 1.0), X, length < 1.0, ax=axes(SQUARE)).figure_


def path() -> BoundaryPathDisplay:
    return moving(plot=False)


def path_still() -> Any:
    return moving(ax=axes(SQUARE)).figure_


def moving(**how: Any) -> BoundaryPathDisplay:
    X, y = rows_of(Separable(n=60, d=2, margin=0.04, seed=11))
    return BoundaryPathDisplay.from_learning(Perceptron(), X, y, **how)


def trace() -> Any:
    return TraceDisplay.from_estimator(Perceptron(fit_intercept=False), *BOARD, passes=9, ax=axes((5.0, 4.8))).figure_


def proof() -> Any:
    stream = Separable(n=200, d=50, margin=0.2, seed=1)
    model = Perceptron(fit_intercept=False)
    return ProofDisplay.from_estimator(model, *rows_of(stream), u=stream.u, ax=axes()).figure_


def bound() -> Any:
    stream = Separable(n=600, d=5, margin=0.08)
    model = Perceptron(fit_intercept=False)
    return MistakeBoundDisplay.from_estimator(model, *rows_of(stream), u=stream.u, ax=axes()).figure_


def inseparable() -> Any:
    stream = Noisy(n=600, d=3, flips=20, seed=2)
    model = Perceptron(fit_intercept=False)
    return MistakeBoundDisplay.from_estimator(model, *rows_of(stream), ax=axes()).figure_


def box() -> Any:
    stream = Separable(n=100, d=3, margin=0.15, seed=2)
    model = MarginPerceptron(20.0, fit_intercept=False)
    return MarginBoxDisplay.from_estimator(model, *rows_of(stream), ax=axes()).figure_


def orders() -> Any:
    stream = Separable(n=200, d=20, margin=0.2, seed=4)
    model = Perceptron(fit_intercept=False)
    return OrdersDisplay.from_estimator(model, *rows_of(stream), u=stream.u, ax=axes()).figure_


def oscillation() -> Any:
    X, y = rows_of(Noisy(n=600, d=2, noise=0.15))
    return OscillationDisplay.from_estimator(Perceptron(fit_intercept=False), X, y, ax=axes()).figure_


def descent() -> Any:
    """Seconds are those of this machine: this image is another one each time."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4096, 16)) * np.linspace(0.3, 1.0, 16)
    chances = 1.0 / (1.0 + np.exp(-X @ rng.standard_normal(16)))
    objective = mean_loss(X, np.where(rng.random(4096) < chances, 1.0, -1.0), Logistic(), l2=0.02)
    optimum = newton(objective, 1e-15).value
    solutions = {
        "GD": gradient_descent(objective, 1e-10, optimum=optimum),
        "Newton": newton(objective, 1e-10, optimum=optimum),
        "SGD": sgd(objective, 1e-4, optimum=optimum),
        "second-order SGD": second_order_sgd(objective, 1e-4, optimum=optimum),
    }
    left, right = axes(WIDE, 2)
    DescentDisplay.from_solutions(solutions, by="steps", ax=left)
    shown = DescentDisplay.from_solutions(solutions, by="seconds", ax=right)
    return shown.figure_


def curve() -> Any:
    X, y = rows_of(Noisy(n=4000, d=10, noise=0.1, seed=1))
    return LossCurveDisplay.from_mistakes(OnlineClassifier().partial_fit(X, y, classes=[-1, 1]), ax=axes()).figure_


def members() -> Any:
    X, y = rows_of(Noisy(n=4000, d=10, noise=0.1, seed=1))
    result = race(
        X, grid(loss=["log_loss", "hinge"], rule=[SGD(Constant(rate)) for rate in (0.01, 0.1, 1.0)]), target=y
    )
    return result.plot(ax=axes()).figure_


IMAGES: dict[str, Callable[[], Any]] = {
    "losses.png": losses,
    "update.png": update,
    "boundary.png": boundary,
    "kernel.png": kernel,
    "path.gif": path,
    "path.png": path_still,
    "trace.png": trace,
    "proof.png": proof,
    "bound.png": bound,
    "inseparable.png": inseparable,
    "box.png": box,
    "orders.png": orders,
    "oscillation.png": oscillation,
    "descent.png": descent,
    "curve.png": curve,
    "race.png": members,
}


def write(name: str, drawn: Any) -> None:
    file = FOLDER / name
    if name.endswith(".gif"):
        drawn.save(file, dpi=70)
    else:
        image = io.BytesIO()
        drawn.savefig(image, format="png", dpi=DPI)
        Image.open(image).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(file, optimize=True)
    print(f"{file.name}: {file.stat().st_size / 1024:.0f} KB")


def main() -> None:
    parser = argparse.ArgumentParser(description="Draw the images of docs/pictures.md.")
    parser.add_argument("names", nargs="*", help="of images, without extensions; all if there are none")
    chosen = parser.parse_args().names
    matplotlib.use("Agg")
    from matplotlib import pyplot

    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, draw in IMAGES.items():
        if not chosen or name.split(".")[0] in chosen:
            write(name, draw())
            pyplot.close("all")


if __name__ == "__main__":
    main()
