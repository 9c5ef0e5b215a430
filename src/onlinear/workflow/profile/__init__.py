"""What is in a table, before anything is learned from it; and the recipe that follows."""
