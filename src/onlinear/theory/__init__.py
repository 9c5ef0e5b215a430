"""What is proven about a run: margins, mistake bounds, separability, and certificates that a stranger can recheck."""

from onlinear.theory.own_weights import InseparableBound, freund_schapire, margin

__all__ = ["InseparableBound", "freund_schapire", "margin"]
