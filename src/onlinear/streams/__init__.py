"""From files to batches: opened, decompressed, cut at line ends, parsed."""
