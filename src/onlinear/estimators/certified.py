"""``certificate_``: what a classifier knows of its run, computed when it is asked for and never on sight."""

from __future__ import annotations

from typing import Any


class ShowsCertificate:
    """``certificate_`` for a classifier."""

    @property
    def certificate_(self) -> Any:
        """What is known of the run without another look at the rows: see :func:`onlinear.certify`, which proves it.

        Of several classes, one against the rest, it is a dict with one for each. Of a kernel perceptron it speaks of
        the last version. Exact sums over all weights may take seconds, so ``dir`` and notebooks leave it out.
        """
        if not self.__sklearn_is_fitted__():  # type: ignore[attr-defined]
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute 'certificate_' before it has learned anything"
            )
        from onlinear.theory.certifying import running_of  # and with it SciPy's linear programs

        return running_of(self)

    def __dir__(self) -> list[str]:
        """What there is, but for the certificate: scikit-learn looks at each name, and a notebook at each value."""
        return [name for name in object.__dir__(self) if name != "certificate_" and hasattr(self, name)]
