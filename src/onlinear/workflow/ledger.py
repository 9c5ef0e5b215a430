"""The ledger: which test rows were used by which selection. A test that is used again is no test any more."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from onlinear.errors import BadInput
from onlinear.model.container import replacing

#: beside the model
NAME = "onlinear-ledger.json"


def digest_of_test(sha256: str, numbers: np.ndarray) -> str:
    """A digest of the rows that are tested: of their file's, and of their numbers there."""
    return hashlib.sha256(sha256.encode() + np.ascontiguousarray(numbers, "<i8").tobytes()).hexdigest()


class Ledger:
    """A JSON file from digests of test rows to the selections that have measured on them."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def uses(self, digest: str) -> list[dict[str, Any]]:
        """Those so far."""
        if not self.path.exists():
            return []
        try:
            found: list[dict[str, Any]] = json.loads(self.path.read_text(encoding="utf-8")).get(digest, [])
            return found
        except (ValueError, AttributeError) as error:
            raise BadInput(
                f"{self.path}: cannot be read as the ledger of tests ({error}): mend it, or move it away"
            ) from None

    def enter(self, digest: str, use: dict[str, Any]) -> None:
        """Write down one more."""
        known: dict[str, Any] = json.loads(self.path.read_text(encoding="utf-8")) if self.path.exists() else {}
        known.setdefault(digest, []).append({"when": datetime.now(UTC).isoformat(timespec="seconds"), **use})
        with replacing(self.path) as file:
            file.write(json.dumps(known, indent=1).encode() + b"\n")
