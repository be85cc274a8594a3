"""Run one compiled call of a program again, without the rest of the program."""
