"""What leans on the insides of Numba 0.68, llvmlite and CPython: imported with that release only, see ``plain.py``."""
