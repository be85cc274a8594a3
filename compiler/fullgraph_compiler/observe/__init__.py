"""What a program does, as seen from beside it: torch's structured trace, names, modules, its end."""
