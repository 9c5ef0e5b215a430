"""What leans on the insides of Numba and LLVM: inlining, dispatch by type, vector registers, CPython's objects."""
