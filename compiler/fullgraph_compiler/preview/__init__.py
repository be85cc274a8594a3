"""Kernels for a GPU that is not there: a graph is moved to it, compiled for it, and runs uncompiled."""
