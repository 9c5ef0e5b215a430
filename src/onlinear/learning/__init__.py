"""What changes when an example comes: learner, classes, drift; and what a model answers."""
