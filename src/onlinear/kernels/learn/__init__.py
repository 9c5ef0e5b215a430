"""Loops that learn and score: uniform, per-weight and matrix rules, alone and in banks."""
