"""From what a row says to which weights it touches: names, hashing, text, scaling."""
