"""Results of selections as ``onlinear select --json`` writes them: realistic ones, made up, and the same every time."""

from __future__ import annotations

import math
import random
from typing import Any

Result = dict[str, Any]


def column(name: str, kind: str = "number", role: str = "feature", **known: Any) -> Result:
    return {
        "name": name,
        "role": role,
        "kind": kind,
        "missing": 0.0,
        "distinct": 73,
        "low": None,
        "high": None,
        "mean": None,
        "median": None,
        "skew": None,
        "outliers": None,
        "common": [],
        "constant": False,
        "id": False,
        "leak": False,
        "notes": [],
        **known,
    }


def curve(end: float, examples: int, seed: int, start: float = 1.0) -> list[list[float]]:
    """A running score at 1, 2, 4, ... examples, on its way to ``end``."""
    chance = random.Random(seed)
    places = [2**k for k in range(int(math.log2(examples)) + 1)] + [examples]
    return [[x, end + (start - end) * chance.uniform(0.5, 1.0) / x**0.45] for x in dict.fromkeys(places)]


def configuration(
    loss: str, rule: str, rate: float, score: float, seed: int, examples: int, stopped: int | None
) -> Result:
    half = 1.96 * math.sqrt(abs(score) / examples)
    return {
        "name": f"{loss}, {rule}, rate {rate:g}",
        "loss": loss,
        "rule": rule,
        "settings": {"rate": rate, "l2": 0.0, "average": True},
        "score": score,
        "interval": [score - half, score + half],
        "stopped_at": stopped,
        "curve": curve(score, stopped or examples, seed, start=2.5 * score),
    }


def race(best: float, examples: int, by: str = "error", losses: tuple[str, ...] = ("log_loss", "hinge")) -> Result:
    entries = []
    for rule in ("normalised", "adagrad", "plain"):
        for loss in losses:
            for rate in (0.1, 0.4, 0.8):
                k = len(entries)
                stopped = None if k < 8 else 4096 if k < 12 else 1024
                entries.append(configuration(loss, rule, rate, best * (1 + 0.012 * k), k, examples, stopped))
    how = "progressive" if examples > 1000 else "5-fold cross-validation"
    found = {"by": by, "how": how, "examples": examples, "passes": 1, "seconds": 1.2, "configurations": entries}
    return found | {"online_to_batch": drawn_alike(best, examples) if by == "error" and how == "progressive" else None}


def drawn_alike(error: float, examples: int) -> Result:
    return {
        "assumption": "if the rows are drawn independently from one distribution",
        "confidence": 0.95,
        "examples": examples,
        "mistakes": round(error * examples),
        "progressive_error": error,
        "drawn_at_random": {"error_at_most": error + 0.02, "vacuous": False, "theorem": "proposition 1"},
        "picked": {"error_at_most": 1.0, "vacuous": True, "theorem": "theorem 4"},
        "average": {"error_at_most": None, "reason": "the 0/1 loss is not convex"},
        "at_any_time": {"mean_error": [error - 0.02, error + 0.02], "theorem": "theorem 2"},
        "configurations": 18,
    }


def certificate(
    updates: int, bound: float | None, separable: bool | None, low: float | None, high: float | None
) -> Result:
    return {
        "onlinear_certificate": 1,
        "claim": "A claim.",
        "examples": 500,
        "rows": 100,
        "passes": 5,
        "updates": updates,
        "mistakes": updates - 1,
        "margin_lower": low,
        "margin_upper": high,
        "bound": bound,
        "bound_kind": "perceptron",
        "holds": True,
        "separable": separable,
    }


def result(task: str, target: str, file: str, **known: Any) -> Result:
    stem = file.removesuffix(".csv")
    command = f"onlinear select {file} --target {target} --report report.html"
    python = (
        f'import onlinear\n\nmodel = onlinear.load("{stem}.onlinear")\n'
        f'for row in onlinear.open_stream("new.csv"):\n    print(model.predict(row))'
    )
    return {
        "onlinear": "0.1.0",
        "asked": {
            "command": command,
            "files": [file],
            "test_files": [],
            "target": target,
            "time": None,
            "group": None,
            "task": task,
            "seed": 0,
        },
        "seconds": 12.3,
        "data": None,
        "columns": [],
        "notes": [],
        "recipe": [],
        "race": None,
        "winner": None,
        "references": [],
        "test": None,
        "weights": [],
        "path": None,
        "certificate": None,
        "certificate_words": [],
        "worst": [],
        "drift": None,
        "files": {
            "model": f"{stem}.onlinear",
            "certificate": f"{stem}.certificate.json",
            "report": "report.html",
            "ledger": f"{stem}.ledger.jsonl",
        },
        "use": {"command": f"onlinear predict new.csv --model {stem}.onlinear --output answers.csv", "python": python},
        **known,
    }


def data(rows: int, kind: str, train: int, words: str, duplicates: int = 24) -> Result:
    split = {"kind": kind, "train": train, "test": rows - train, "words": words}
    return {
        "rows": rows,
        "duplicates": duplicates,
        "sha256": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
        "split": split,
    }


def test(rows: int, **known: Any) -> Result:
    return {
        "rows": rows,
        "error": None,
        "rmse": None,
        "interval": None,
        "level": 0.95,
        "mistakes": None,
        "mean_absolute_error": None,
        "r2": None,
        "log_loss": None,
        "confusion": None,
        "calibration": None,
        "used_before": False,
        "words": None,
        **known,
    }


def weight(name: str, size: float, of: str | None = None, half: float | None = 0.12) -> Result:
    ends = (None, None) if half is None else (size - half, size + half)
    return {"name": name, "class": of, "weight": size, "low": ends[0], "high": ends[1]}


def adult() -> Result:
    """Two classes, categories, missing values: like the census data of 1994."""
    rows, train = 32561, 26048
    raced = race(0.151, train)
    columns = [
        column("age", distinct=73, low=17.0, high=90.0, mean=38.6, median=37.0, skew=0.56, outliers=12),
        column(
            "workclass",
            "category",
            missing=0.0564,
            distinct=8,
            common=[["Private", 22696], ["Self-emp-not-inc", 2541], ["Local-gov", 2093]],
            notes=["“?” was read as missing."],
        ),
        column(
            "fnlwgt",
            distinct=21648,
            low=12285.0,
            high=1484705.0,
            mean=189778.4,
            median=178356.0,
            skew=1.45,
            notes=["Its correlation with the target is not told from 0."],
        ),
        column(
            "education",
            "category",
            distinct=16,
            common=[["HS-grad", 10501], ["Some-college", 7291], ["Bachelors", 5355]],
        ),
        column(
            "education-num",
            distinct=16,
            low=1.0,
            high=16.0,
            mean=10.1,
            median=10.0,
            skew=-0.31,
            notes=["Says the same as education."],
        ),
        column(
            "marital-status", "category", distinct=7, common=[["Married-civ-spouse", 14976], ["Never-married", 10683]]
        ),
        column(
            "occupation",
            "category",
            missing=0.0566,
            distinct=14,
            common=[["Prof-specialty", 4140], ["Craft-repair", 4099]],
        ),
        column("relationship", "category", distinct=6, common=[["Husband", 13193], ["Not-in-family", 8305]]),
        column("race", "category", distinct=5, common=[["White", 27816], ["Black", 3124]]),
        column("sex", "category", distinct=2, common=[["Male", 21790], ["Female", 10771]]),
        column(
            "capital-gain",
            distinct=119,
            low=0.0,
            high=99999.0,
            mean=1077.6,
            median=0.0,
            skew=11.95,
            outliers=159,
            notes=["Very skewed: it is taken by its logarithm.", "99 999 occurs 159 times and may stand for more."],
        ),
        column("capital-loss", distinct=92, low=0.0, high=4356.0, mean=87.3, median=0.0, skew=4.59, outliers=300),
        column("hours-per-week", distinct=94, low=1.0, high=99.0, mean=40.4, median=40.0, skew=0.23),
        column(
            "native-country",
            "category",
            missing=0.0179,
            distinct=41,
            common=[["United-States", 29170], ["Mexico", 643]],
        ),
        column("income", "category", "target", distinct=2, common=[["<=50K", 24720], [">50K", 7841]]),
    ]
    names = [
        ("capital-gain", 2.31),
        ("marital-status=Married-civ-spouse", 1.12),
        ("education=Doctorate", 0.94),
        ("education=Preschool", -0.91),
        ("occupation=Priv-house-serv", -0.88),
        ("occupation=Exec-managerial", 0.79),
        ("education=Masters", 0.71),
        ("relationship=Own-child", -0.69),
        ("capital-loss", 0.66),
        ("occupation=Farming-fishing", -0.61),
        ("hours-per-week", 0.42),
        ("sex=Female", -0.41),
        ("age", 0.37),
        ("workclass=Without-pay", -0.31),
        ("native-country=Columbia", -0.09),
        ("race=Other", -0.05),
    ]
    cells = {
        "age": "23",
        "workclass": "Private",
        "fnlwgt": "122272",
        "education": "Bachelors",
        "education-num": "13",
        "marital-status": "Never-married",
        "occupation": "Adm-clerical",
        "relationship": "Own-child",
        "race": "White",
        "sex": "Female",
        "capital-gain": "0",
        "capital-loss": "0",
        "hours-per-week": "30",
        "native-country": "United-States",
    }
    return result(
        "classification",
        "income",
        "adult.csv",
        data=data(rows, "stratified", train, "one row in five, the same share of each class"),
        columns=columns,
        notes=[
            "24 rows occur twice; they were kept, and each pair is on one side of the split.",
            "3 columns have missing values, marked “?”.",
        ],
        recipe=[
            "8 categories become one feature for each of their values, “missing” being one.",
            "6 numbers are scaled by the largest value seen so far.",
            "capital-gain is taken by its logarithm, because it is very skewed.",
        ],
        race=raced,
        winner=raced["configurations"][0],
        references=[
            {"name": "majority class", "score": 0.2408, "rows": None, "seconds": 0.01},
            {"name": "LogisticRegression", "score": 0.1478, "rows": 20000, "seconds": 0.61},
            {"name": "HistGradientBoostingClassifier", "score": 0.1284, "rows": 20000, "seconds": 1.9},
            {"name": "k nearest neighbours", "score": 0.1672, "rows": 5000, "seconds": 2.2},
        ],
        test=test(
            rows - train,
            error=0.1502,
            interval=[0.1415, 0.1589],
            mistakes=978,
            log_loss=0.3214,
            confusion={"labels": ["<=50K", ">50K"], "counts": [[4600, 345], [633, 935]]},
            calibration=[
                {"predicted": p, "observed": o, "rows": n}
                for p, o, n in [
                    (0.03, 0.025, 2900),
                    (0.14, 0.12, 900),
                    (0.25, 0.27, 640),
                    (0.35, 0.33, 480),
                    (0.45, 0.47, 400),
                    (0.55, 0.52, 330),
                    (0.65, 0.61, 290),
                    (0.75, 0.72, 230),
                    (0.86, 0.85, 200),
                    (0.97, 0.98, 143),
                ]
            ],
            words="978 of 6513 rows are wrong: 15.0 %, and between 14.1 % and 15.9 % with a confidence of 95 %.",
        ),
        weights=[weight(name, size) for name, size in names],
        path=[
            {"l1": 0.1 / 2**k, "features": n, "score": s}
            for k, (n, s) in enumerate(
                [
                    (1, 0.2408),
                    (3, 0.196),
                    (6, 0.178),
                    (12, 0.158),
                    (25, 0.1535),
                    (51, 0.1509),
                    (78, 0.1503),
                    (108, 0.1502),
                ]
            )
        ],
        certificate=certificate(5120, 31250.4, False, -1.9, 0.03),
        certificate_words=[
            "The rows are not separable: 9 of them combine to zero.",
            "There were 5120 updates, and the bound of Freund and Schapire allows 31 250.",
        ],
        worst=[
            {"row": r, "label": ">50K", "predicted": "<=50K", "chance": c, "score": -6.9, "cells": cells}
            for r, c in ((812, 0.001), (20177, 0.0023), (31012, 0.0031))
        ],
    )


def iris() -> Result:
    """Three classes, few rows, cross-validation, a certificate for each class."""
    classes = ["setosa", "versicolor", "virginica"]
    features = ["sepal length (cm)", "sepal width (cm)", "petal length (cm)", "petal width (cm)"]
    raced = race(0.04, 120, losses=("log_loss",))
    for entry in raced["configurations"]:
        entry["curve"], entry["stopped_at"] = [], None
    sizes = [(0.3, 0.9, -1.4, -1.2), (0.05, -0.8, 0.2, -0.5), (-0.2, -0.3, 1.6, 1.9)]
    weights = [
        weight(name, size, of)
        for of, line in zip(classes, sizes, strict=True)
        for name, size in zip(features, line, strict=True)
    ]
    return result(
        "classification",
        "species",
        "iris.csv",
        data=data(150, "stratified", 120, "one row in five, the same share of each class", 1),
        columns=[
            *(
                column(name, low=0.1 + k, high=2.5 + k, median=1.3 + k, distinct=22 + k)
                for k, name in enumerate(features)
            ),
            column("species", "category", "target", distinct=3, common=[[name, 50] for name in classes]),
        ],
        notes=["There are only 150 rows: intervals are wide."],
        recipe=["4 numbers are scaled to mean 0 and spread 1."],
        race=raced,
        winner=raced["configurations"][0],
        references=[
            {"name": "majority class", "score": 0.6667, "rows": None, "seconds": 0.001},
            {"name": "LogisticRegression", "score": 0.0333, "rows": None, "seconds": 0.01},
        ],
        test=test(
            30,
            error=1 / 30,
            interval=[0.0008, 0.1722],
            mistakes=1,
            log_loss=0.11,
            confusion={"labels": classes, "counts": [[10, 0, 0], [0, 9, 1], [0, 0, 10]]},
            words="1 of 30 rows is wrong: 3.3 %, and between 0.1 % and 17.2 % with a confidence of 95 %.",
        ),
        weights=sorted(weights, key=lambda one: -abs(one["weight"])),
        path=[{"l1": 0.1, "features": 2, "score": 0.05}, {"l1": 0.01, "features": 4, "score": 0.0333}],
        certificate={
            "setosa": certificate(9, 663.42, True, 0.433, 1.28),
            "versicolor": certificate(412, None, False, -3.2, 0.02),
            "virginica": certificate(240, 210000.7, None, -0.4, 0.11),
        },
        certificate_words=["setosa is separable from the rest; versicolor is not; of virginica it is undecided."],
        worst=[
            {
                "row": 84,
                "label": "versicolor",
                "predicted": "virginica",
                "chance": 0.21,
                "score": None,
                "cells": dict(zip(features, ["6.0", "2.7", "5.1", "1.6"], strict=True)),
            }
        ],
    )


def housing() -> Result:
    """A regression whose target is in the hundreds of thousands."""
    raced = race(69100.0, 16512, "rmse", ("squared", "huber"))
    features = ["MedInc", "HouseAge", "AveRooms", "AveBedrms", "Population", "AveOccup", "Latitude", "Longitude"]
    return result(
        "regression",
        "MedHouseVal",
        "housing.csv",
        data=data(20640, "rows", 16512, "one row in five", 0),
        columns=[
            *(
                column(
                    name,
                    distinct=12000,
                    low=-1.5 * k,
                    high=1243.3 * (k + 1),
                    median=3.53,
                    skew=97.6 if name == "AveOccup" else 1.6,
                    outliers=40,
                )
                for k, name in enumerate(features)
            ),
            column(
                "MedHouseVal",
                role="target",
                distinct=3842,
                low=14999.0,
                high=500001.0,
                median=179700.0,
                notes=["965 rows have the value 500 001: it seems to be cut off there."],
            ),
        ],
        notes=["The target is cut off at 500 001."],
        recipe=["8 numbers are scaled to mean 0 and spread 1.", "Values farther than 8 spreads are moved there."],
        race=raced,
        winner=raced["configurations"][0],
        references=[
            {"name": "mean", "score": 115300.0, "rows": None, "seconds": 0.001},
            {"name": "Ridge", "score": 69400.0, "rows": None, "seconds": 0.02},
            {"name": "HistGradientBoostingRegressor", "score": 47210.0, "rows": 10000, "seconds": 0.9},
        ],
        test=test(
            4128,
            rmse=69312.7,
            interval=[67120.2, 71480.9],
            mean_absolute_error=50101.0,
            r2=0.641,
            words="The root mean squared error is 69 300, between 67 100 and 71 500 with a confidence of 95 %.",
        ),
        weights=[
            weight(name, size, half=2100.0)
            for name, size in zip(
                features, [81500.0, 11800.0, -29100.0, 31200.0, -900.0, -4200.0, -90100.0, -87300.0], strict=True
            )
        ],
        path=[
            {"l1": 10.0 / 2**k, "features": n, "score": s}
            for k, (n, s) in enumerate([(1, 84000.0), (3, 74500.0), (5, 70100.0), (8, 69312.7)])
        ],
        worst=[
            {
                "row": 15360,
                "label": 500001.0,
                "predicted": 41220.5,
                "chance": None,
                "score": None,
                "cells": {"MedInc": "0.5", "HouseAge": "52"},
            }
        ],
    )


def elec2() -> Result:
    """Two classes in the order of time, with drift, like the electricity prices of New South Wales; tested before."""
    chance = random.Random(3)
    points = [[1000 + 500 * k, 0.17 + 0.05 * math.sin(k / 7) + chance.uniform(-0.02, 0.02)] for k in range(88)]
    numbers = ["period", "nswprice", "nswdemand", "vicprice", "vicdemand", "transfer"]
    raced = race(0.151, 36250)
    made = result("classification", "class", "elec2.csv")
    cells = dict(zip(numbers, ["0.553", "0.0412", "0.62", "0.0027", "0.41", "0.47"], strict=True))
    return {
        **made,
        "asked": {**made["asked"], "command": "onlinear select elec2.csv --target class --time date", "time": "date"},
        "data": data(45312, "time", 36250, "the last fifth of the time", 0),
        "columns": [
            column("date", role="time", distinct=933, low=0.0, high=1.0, median=0.456),
            column("day", "category", distinct=7, common=[["2", 6480], ["3", 6480], ["4", 6479]]),
            *(column(name, distinct=4000, low=0.0, high=1.0, median=0.4, outliers=9) for name in numbers),
            column("class", "category", "target", distinct=2, common=[["DOWN", 26075], ["UP", 19237]]),
        ],
        "notes": ["Neighbouring rows are alike: a split at random would flatter every model."],
        "recipe": ["6 numbers are scaled by the largest value seen so far."],
        "race": raced,
        "winner": raced["configurations"][0],
        "references": [
            {"name": "majority class", "score": 0.4188, "rows": None, "seconds": 0.01},
            {"name": "the label before", "score": 0.1467, "rows": None, "seconds": 0.01},
        ],
        "test": test(
            9062,
            error=0.1452,
            interval=[0.138, 0.1527],
            mistakes=1316,
            confusion={"labels": ["DOWN", "UP"], "counts": [[4710, 557], [759, 3036]]},
            used_before=True,
        ),
        "weights": [weight(name, 1.9 - 0.7 * k) for k, name in enumerate(numbers)],
        "worst": [{"row": 40112, "label": "UP", "predicted": "DOWN", "chance": 1e-9, "score": -20.7, "cells": cells}],
        "drift": {
            "policy": "reset",
            "detector": "ADWIN",
            "alarms": [6120, 14210, 15120, 31002],
            "curve": points,
            "error": 0.145,
            "static_error": 0.234,
        },
    }


def minimal() -> Result:
    """Whatever may be null is null, and every list is empty."""
    made = result("classification", "y", "tiny.csv")
    return {
        **made,
        "asked": {**made["asked"], "command": None, "seed": None},
        "seconds": None,
        "files": {"model": None, "certificate": None, "report": None, "ledger": None},
        "use": {"command": None, "python": None},
    }


def twenty() -> Result:
    """Twenty classes with long names."""
    chance = random.Random(1)
    classes = [f"newsgroup.number.{k}.with.a.long.name" for k in range(20)]
    counts = [
        [chance.randrange(300, 380) if i == j else chance.choice([0, 0, 1, 3, 12]) for j in range(20)]
        for i in range(20)
    ]
    whole, right = sum(map(sum, counts)), sum(counts[i][i] for i in range(20))
    made = iris()
    return {
        **made,
        "test": test(
            whole,
            error=1 - right / whole,
            interval=[0.08, 0.12],
            mistakes=whole - right,
            confusion={"labels": classes, "counts": counts},
        ),
        "weights": [weight(f"word{w}", chance.uniform(-2, 2), name) for name in classes for w in range(30)],
        "certificate": {name: certificate(100 + k, 1e4 + k, True, 0.1, 0.2 + k) for k, name in enumerate(classes)},
    }


def wide(columns: int = 2000, letters: int = 300) -> Result:
    """Two thousand columns with names of 300 characters, and numbers from 1e-12 to 1e12."""
    made = adult()
    names = [f"{k}_".ljust(letters, "n") for k in range(columns)]
    return {
        **made,
        "columns": [
            column(
                name,
                low=-(10.0 ** (k % 25 - 12)),
                high=10.0 ** (k % 25 - 12),
                median=0.0,
                missing=0.5 if k % 100 == 0 else 0.0,
                notes=["It is odd."] * (k % 400 == 1),
            )
            for k, name in enumerate(names)
        ],
        "weights": [
            weight(name, (-1) ** k * 10.0 ** (12 - k * 24 / columns), half=None) for k, name in enumerate(names)
        ],
        "worst": [
            {
                "row": 3,
                "label": "a",
                "predicted": "b",
                "chance": None,
                "score": None,
                "cells": dict.fromkeys(names, "1e-12"),
            }
        ]
        * 10,
    }


MAKERS = {maker.__name__: maker for maker in (adult, iris, housing, elec2, minimal, twenty, wide)}
