"""Arguments and options that commands have, each declared once."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Any

from onlinear.cli.commands import ARGUMENTS, INPUT, LOG, OUTPUT as WRITTEN, PRINTED, READING, ROWS, Declared
from onlinear.drift import DETECTORS, ON_DRIFT
from onlinear.registry import LOSSES, RULES, SCHEDULES
from onlinear.streams.conversion import FORMATS

#: of predictions
FORMS = ("csv", "jsonl")
MODEL_FILE, LEARNING, OUTPUT = "Model file", "Learning", "Output"
KEEPING = "Perceptrons that keep examples"


def option_from_table(table: Collection[str], says: str) -> dict[str, Any]:
    """The option of a name out of a table."""
    return {"says": f"{says}: {', '.join(table)}.", "metavar": "NAME", "choices": table}


def option(kind: Any, panel: str, says: str, *names: str, **more: Any) -> Any:
    """The type of an optional argument, with its option."""
    return Annotated[kind, Declared(says, panel, names, **more)]


def argument(kind: Any, metavar: str, says: str, file: str) -> Any:
    """The type of an argument that has its place: a file."""
    return Annotated[kind, Declared(says, ARGUMENTS, metavar=metavar, file=file)]


_FILES = "Files or globs, also compressed (.gz .bz2 .xz .zst); - is standard input."
Files = argument(list[str], "FILE...", _FILES, ROWS)
MaybeFiles = argument(list[str] | None, "FILE...", _FILES, ROWS)
ModelFile = argument(Path, "MODEL", "A model that train has saved.", INPUT)
Converted = argument(str, "OUTPUT", "File to write, compressed if its name says so; - is standard output.", PRINTED)
Certificate = argument(Path, "CERT", "A certificate that certify has written.", INPUT)
CertifiedRows = argument(Path, "FILE", "The rows: svmlight, or CSV of numbers with the label last.", INPUT)
_BAD = "Stop at the first bad line, skip them all, or copy them to FILE with their reasons."
BadLineWish = option(str, READING, _BAD, "--bad-lines", metavar="fail|skip|FILE", file=LOG, words=("fail", "skip"))
Model = option(Path | None, MODEL_FILE, "Where to save the model.", "--model", "-m", file=WRITTEN)
Certified = option(
    Path | None, MODEL_FILE, "The model; by default a perceptron is learned.", "--model", "-m", file=INPUT
)
Against = option(
    Path | None,
    MODEL_FILE,
    "Weights of your own, which the bound is tried with, too: a line of all, or a name and a weight in each.",
    "--against",
    metavar="FILE",
    file=INPUT,
)
CertifiedModel = option(
    Path | None, MODEL_FILE, "The model file that the certificate is of.", "--model", "-m", file=INPUT
)
Replay = option(bool, OUTPUT, "Learn the rows again, too, and verify counts and weights.", "--replay")
CertificateFile = option(
    str | None, OUTPUT, "Write the certificate to this file.", "--output", "-o", metavar="FILE", file=WRITTEN
)
ExportedRows = option(
    str | None, OUTPUT, "Write the rows as the model sees them, for verify.", metavar="FILE", file=WRITTEN
)
Resume = option(Path | None, MODEL_FILE, "Go on with this model: where it stopped, or with more files.")
StartAt = option(
    Path | None, MODEL_FILE, "Learn anew, but start with the weights of this model.", "--start-at", file=INPUT
)
Every = option(int, MODEL_FILE, "Save the model after every N rows.", "--checkpoint-every", min=0, metavar="N")
KeepPartial = option(bool, MODEL_FILE, "Save what was learned even if a bad line stops the run.", "--keep-partial")
Slim = option(bool, MODEL_FILE, "Save only what predictions need.", "--slim")
Learner = option(
    str,
    LEARNING,
    "linear, or a perceptron that keeps the examples it was wrong on: voted, pocket or kernel.",
    metavar="NAME",
    choices=("linear", "voted", "pocket", "kernel"),
)
Kernel = option(
    str | None,
    KEEPING,
    "Of --learner kernel: linear, poly or rbf; by default poly.",
    metavar="NAME",
    choices=("linear", "poly", "rbf"),
)
Degree = option(int | None, KEEPING, "Of the kernel poly; by default 2.", min=1, metavar="N")
Gamma = option(
    float | None, KEEPING, "Of the kernels poly and rbf, and of --random-features; by default 1.", metavar="X"
)
Coef0 = option(float | None, KEEPING, "Of the kernel poly; by default 1.", "--coef0", metavar="X")
Vote = option(
    str | None,
    KEEPING,
    "Who answers: vote (all versions, as long as each was right; the default), average, last, random or pocket.",
    metavar="NAME",
    choices=("vote", "average", "last", "random", "pocket"),
)
Budget = option(int | None, KEEPING, "Keep at most N examples, by --learner kernel.", min=1, metavar="N")
Loss = option(
    str | None, LEARNING, **option_from_table(LOSSES, "Loss (by default log_loss, or squared_error for numbers)")
)
Rule = option(str, LEARNING, **option_from_table(RULES, "Update rule"))
Schedule = option(str | None, LEARNING, **option_from_table(SCHEDULES, "Rates of the rule sgd (by default constant)"))
Task = option(
    str | None,
    LEARNING,
    "classification or regression; by default inferred from the first labels.",
    metavar="NAME",
    choices=("classification", "regression"),
)
ClassNames = option(
    str | None, LEARNING, "All classes; or open, and more may come.", "--classes", metavar="A,B,..|open"
)
Passes = option(int, LEARNING, "Passes over the files; none follows one that brings no update.", min=1, metavar="N")
Shuffle = option(
    bool,
    LEARNING,
    "Learn the rows in a random order, another in each pass, within buffers of 262,144 rows.",
    "--shuffle",
)
SeedOfOrder = option(
    int,
    LEARNING,
    "Of the random order, and of --vote random and --random-features.",
    "--seed",
    min=0,
    max=(1 << 64) - 1,
    metavar="N",
)
UntilSeparated = option(
    bool,
    LEARNING,
    "Learn a perceptron, pass after pass, until one brings no update; at most 1,000 passes, or --passes.",
    "--until-separated",
)
MostPasses = option(
    int,
    LEARNING,
    "Most passes, if a perceptron is to be learned; more than 1,000 are also learned again.",
    "--passes",
    min=1,
    metavar="N",
)
Gap = option(float, LEARNING, "Share within which the best margin is wanted.", "--gap", metavar="X")
L1 = option(float, LEARNING, "Strength of the L1 penalty.", "--l1", min=0.0, metavar="X")
L2 = option(float, LEARNING, "Strength of the L2 penalty.", "--l2", min=0.0, metavar="X")
Average = option(bool, LEARNING, "Answer with averaged weights.", "--average")
Forget = option(
    float, LEARNING, "Share of its evidence that a rule forgets with each example.", min=0.0, max=1.0, metavar="X"
)
RandomFeatures = option(
    int | None,
    LEARNING,
    "Learn N random features in place of the columns: about what the kernel rbf would (--gamma, --seed).",
    min=1,
    metavar="N",
)
UniqueFeatures = option(
    float | None,
    LEARNING,
    "Give each row a feature of its own of this value, which makes any rows separable; a new row has none.",
    metavar="X",
)
OnDrift = option(
    str | None,
    LEARNING,
    "Watch for drift; at an alarm ignore it, reset (start again), or be faster (keep only the weights).",
    metavar="NAME",
    choices=ON_DRIFT,
)
Detector = option(str | None, LEARNING, **option_from_table(DETECTORS, "Detector of drift (by default adwin)"))
DriftDelta = option(
    float | None, LEARNING, "How readily adwin alarms; by default 0.002.", min=0.0, max=1.0, metavar="X"
)
Intercept = option(bool, LEARNING, "Learn an intercept.", "--intercept/--no-intercept")
HeldOutFiles = option(
    list[str] | None, READING, "Test on FILE instead of a share of the rows.", "--test", metavar="FILE", file=ROWS
)
TimeColumn = option(str | None, READING, "Column that says when a row came; the last are tested.", metavar="COLUMN")
InOrder = option(bool, READING, "The rows are in the order of time as they stand.", "--in-order")
GroupColumn = option(str | None, READING, "Column of rows that belong together.", metavar="COLUMN")
Keep = option(list[str] | None, READING, "Column to learn from whatever it looks like.", metavar="COLUMN")
SomeNames = option(
    str | None, READING, "exact or hashed; by default exact for few names.", metavar="NAME", choices=("hashed", "exact")
)
SomeScale = option(
    str | None,
    READING,
    "standardise, max-abs or none; by default numbers are standardised.",
    metavar="NAME",
    choices=("standardise", "max-abs", "none"),
)
Clip = option(bool, READING, "Clip outliers.", "--clip/--no-clip")
SomeRanges = option(
    bool | None,
    READING,
    "Learn the range that a number lies in, too; by default from 2,000 rows on, but not in time order.",
    "--ranges/--no-ranges",
)
Losses = option(list[str] | None, LEARNING, "Loss to race; may be repeated.", "--loss", metavar="NAME")
Rules = option(list[str] | None, LEARNING, "Rule to race; may be repeated.", "--rule", metavar="NAME")
Configurations = option(int, LEARNING, "Race N of the configurations, drawn at random.", min=0, metavar="N")
Folds = option(int | None, LEARNING, "Compare by N folds; 0: as they learn.", min=0, metavar="N")
SomePasses = option(int | None, LEARNING, "Passes over the rows to learn.", "--passes", min=1, metavar="N")
TestShare = option(float, LEARNING, "Share of the rows to test.", min=0.001, max=0.9, metavar="X")
Replicates = option(int, LEARNING, "Bootstrap replicates, for intervals of weights.", min=0, max=1000, metavar="N")
OnDriftOf = option(
    str,
    LEARNING,
    "What to do when rows in time order drift: ignore, reset or faster.",
    "--on-drift",
    metavar="NAME",
    choices=ON_DRIFT,
)
References = option(bool, LEARNING, "Compare with scikit-learn's models.", "--references/--no-references")
Seed = option(int, LEARNING, "Of everything that is drawn.", min=0, max=(1 << 64) - 1, metavar="N")
Repeat = option(Path | None, READING, "Do again what this JSON result says, with FILES.", metavar="FILE", file=INPUT)
CertifiedExport = option(
    str | None, OUTPUT, "Write the rows of the certificate, for verify.", "--export", metavar="FILE", file=WRITTEN
)
ReportFile = option(Path | None, OUTPUT, "Where to write the report.", "--report", metavar="FILE", file=WRITTEN)
TestFiles = option(list[str] | None, OUTPUT, "Test the model on FILE at the end.", "--test", metavar="FILE", file=ROWS)
AsJson = option(bool, OUTPUT, "Print one JSON document.", "--json")
Quiet = option(bool, OUTPUT, "Print nothing but errors.", "--quiet", "-q")
Scores = option(bool, OUTPUT, "Print scores, too.", "--scores")
Probabilities = option(bool, OUTPUT, "Print the probability of each class, too.", "--probabilities")
Output = option(str, OUTPUT, "File to write to; - is standard output.", "--output", "-o", metavar="FILE", file=PRINTED)
OutputFormat = option(
    str | None,
    OUTPUT,
    "csv or jsonl; by default by the extension of the output, or csv.",
    metavar="NAME",
    choices=FORMS,
)
To = option(str | None, OUTPUT, **option_from_table(FORMATS, "Format of the output; by default by its extension"))
Force = option(bool, OUTPUT, "Replace the output if it is there already.", "--force")
Top = option(int, OUTPUT, "How many of the largest weights to show.", min=0, metavar="N")
