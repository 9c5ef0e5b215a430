"""Loops for one row that is a dict: reading it, finding its names, one step."""
