"""The result of a selection for people: a page to open, print and send on, and a few lines for a terminal."""

from __future__ import annotations

from onlinear.workflow.report.page import page
from onlinear.workflow.report.words import words

__all__ = ["page", "words"]
