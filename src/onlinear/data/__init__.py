"""What is passed between the parts: rows, targets and importance, checked once."""
