"""Perceptrons in dual form: kernels, kept examples, the versions of a hypothesis and their votes."""
