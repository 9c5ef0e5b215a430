"""The locks of the compiler, which a thread may hold while another one forks: the new process would wait for ever.

Not a matter of speed: without it, what is compiled first in a process that was forked amid compiling hangs.
"""

from __future__ import annotations

from llvmlite.binding import ffi
from numba.core.compiler_lock import global_compiler_lock

from onlinear.system.locks import watch_lock

REASON = (
    "this process was forked while another thread compiled a loop, and cannot compile one itself: fork while no thread "
    "learns or answers for the first time, or let multiprocessing spawn its processes"
)

for holder in (global_compiler_lock, ffi.lib._lock):
    watch_lock(holder, "_lock", REASON)
