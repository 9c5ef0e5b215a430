"""The operating system: outputs that are whole or not there, open files, signals, interrupts and locks."""
