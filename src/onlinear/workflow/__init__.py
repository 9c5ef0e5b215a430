"""The whole job: from a table with a target column to a chosen, tested and explained model."""
