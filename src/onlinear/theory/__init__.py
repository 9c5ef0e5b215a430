"""What is proven about a run: margins, mistake bounds, separability, and certificates that a stranger can recheck."""
