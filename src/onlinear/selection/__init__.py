"""One-pass model selection: configurations that learn the same rows side by side, and are compared honestly."""
