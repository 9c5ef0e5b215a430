"""Arrays without reference counts.

Numba counts references to arrays with atomic additions, a few for every row, because they hide in tuples: more time
than a sparse row's arithmetic. The caller of a loop keeps its arrays alive, so inside the loop they need no count.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from onlinear.kernels.compiler.inlining import in_place_of


@intrinsic
def uncounted(typing: Any, array: Any) -> Any:
    """The same array, with no owner for the reference counts to be kept at."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = context.make_array(signature.return_type)(context, builder, arguments[0])
        view.meminfo = cgutils.get_null_value(view.meminfo.type)
        view.parent = cgutils.get_null_value(view.parent.type)
        return view._getvalue()

    return array(array), generate


def bare(thing: Any) -> Any:
    """An array, or a named tuple's arrays, without reference counts; anything else as it is."""
    return thing


@in_place_of(bare)
def _bare(thing: Any) -> Any:
    if isinstance(thing, types.Array):
        return lambda thing: uncounted(thing)
    if not isinstance(thing, types.BaseNamedTuple):
        return lambda thing: thing
    fields = ", ".join(f"bare(thing.{field})" for field in thing.fields)
    scope: dict[str, Any] = {"bare": bare, "rebuild": thing.instance_class}
    exec(f"def implementation(thing): return rebuild({fields})", scope)
    return scope["implementation"]
