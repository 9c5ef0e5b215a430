"""Drift: what is right changes over time. Detectors say when, and a learner that is :class:`Adapting` acts on it.

Importing this loads no NumPy: the names of detectors and policies are for the command line, too.
"""

from onlinear.drift.adwin import ADWIN
from onlinear.drift.page_hinkley import PageHinkley

#: detectors by name
DETECTORS: dict[str, type[ADWIN] | type[PageHinkley]] = {"adwin": ADWIN, "page-hinkley": PageHinkley}
#: what to do at an alarm; see :mod:`onlinear.drift.policies`
ON_DRIFT = ("ignore", "reset", "faster")

__all__ = ["ADWIN", "DETECTORS", "ON_DRIFT", "Adapting", "PageHinkley"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onlinear.drift.adapting import Adapting
else:

    def __getattr__(name: str) -> object:
        if name != "Adapting":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from onlinear.drift.adapting import Adapting

        return Adapting
