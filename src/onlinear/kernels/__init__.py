"""Compiled loops: the only folder that imports Numba.

Plain Python goes in, machine code comes out: every function here also runs interpreted, which is how the laws test
every pair of loss and rule without compiling it.
"""
