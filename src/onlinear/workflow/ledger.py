"""The ledger: which test rows were used by which selection. A test that is used again is no test any more."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from onlinear.errors import BadInput
from onlinear.system.atomic import locked_folder, replacing

#: beside the model
NAME = "onlinear-ledger.json"


def digest_of_test(sha256: str, numbers: np.ndarray) -> str:
    """A digest of the rows that are tested: of their file's, and of their numbers there."""
    return hashlib.sha256(sha256.encode() + np.ascontiguousarray(numbers, "<i8").tobytes()).hexdigest()


def is_list_of_uses(uses: Any) -> bool:
    return isinstance(uses, list) and all(isinstance(use, dict) for use in uses)


class Ledger:
    """A JSON file from digests of test rows to the selections that have measured on them."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def uses(self, *digests: str) -> list[dict[str, Any]]:
        """Those so far of rows that have several digests: as most are entered under one."""
        known = self.known()
        found: list[dict[str, Any]] = max((known.get(digest, []) for digest in digests), key=len)
        return found

    def known(self) -> dict[str, Any]:
        """All that is written in it."""
        if not self.path.exists():
            return {}
        if not self.path.is_file():  # a pipe would have no end
            raise BadInput(f"{self.path}: is no file, and the ledger of tests should be there: move it away")
        try:
            found = json.loads(self.path.read_text(encoding="utf-8"))
            if isinstance(found, dict) and all(is_list_of_uses(uses) for uses in found.values()):
                return found
            reason = "it is no JSON object of lists of selections"
        except (ValueError, OSError, RecursionError) as error:
            reason = str(error)
        raise BadInput(f"{self.path}: cannot be read as the ledger of tests ({reason}): mend it, or move it away")

    def enter(self, digest: str, use: dict[str, Any], *others: str) -> None:
        """Write down one more, under all digests that the rows have; others may do so at the same time."""
        with locked_folder(self.path.absolute().parent):
            known = self.known()
            for each in (digest, *others):
                known.setdefault(each, []).append({"when": datetime.now(UTC).isoformat(timespec="seconds"), **use})
            with replacing(self.path) as file:
                file.write(json.dumps(known, indent=1).encode() + b"\n")
