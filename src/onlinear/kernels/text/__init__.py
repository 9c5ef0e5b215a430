"""Loops that read text: decimals, svmlight, VW, CSV, words, names and their hashes."""
