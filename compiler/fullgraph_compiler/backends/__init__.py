"""Backends that find out which part of the compiler is at fault."""
