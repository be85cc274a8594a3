"""Replay of one compiled call of a program, without the rest of the program."""
