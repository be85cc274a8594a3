"""Observation of a program: torch's structured trace, names, modules, and the outcome."""
