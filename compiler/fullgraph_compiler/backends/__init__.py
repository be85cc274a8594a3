"""Debugging backends, which locate faults, explain compilations, and profile recompilations."""
