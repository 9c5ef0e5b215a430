"""How the functions within a compiled loop are compiled: as parts of it, not each by itself.

Numba makes machine code of every function that a loop calls, optimised, and then takes it into its caller and optimises
again, level by level: half of the time until a loop first runs. Parts are never called by themselves. They are only
translated, and optimised once, in the loop that they end up in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering
from numba.extending import overload, register_jitable

F = TypeVar("F", bound=Callable[..., Any])


class PartCode(JITCodeLibrary):
    """The code of a part, to be taken into that of its callers."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class PartLowering(NativeLowering):
    """Numba's last pass, without machine code."""

    _name = "part_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = PartCode(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        entrance: Any = [].append  # what Numba knows the function by: a built-in one of its own, which nobody calls
        state.targetctx.insert_user_function(entrance, state.cr.fndesc, [state.library])
        state.reload_init.extend(state.library._reload_init)
        state.cr = state.cr._replace(cfunc=entrance)
        return True


class PartCompiler(CompilerBase):
    """Numba's compiler, with that last pass."""

    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [(PartLowering if each is NativeLowering else each, name) for each, name in passes.passes]
        passes.finalize()
        return [passes]


#: what Numba is told of a part, and of one that a loop seldom calls: taken into it, that would take up registers
PART: Any = {"pipeline_class": PartCompiler, "no_cfunc_wrapper": True, "forceinline": True}
SELDOM = PART | {"forceinline": False}


def part(function: F) -> F:
    """Let compiled loops call the function, which becomes a part of them."""
    return register_jitable(**PART)(function)


def seldom(function: F) -> F:
    """The same for a function that is seldom called: it stays apart from the loop."""
    return register_jitable(**SELDOM)(function)


def in_place_of(function: Callable[..., Any]) -> Callable[[F], F]:
    """Let compiled loops call, in place of a function, what the decorated one answers for the types of arguments."""
    return overload(function, strict=False, jit_options=PART)
