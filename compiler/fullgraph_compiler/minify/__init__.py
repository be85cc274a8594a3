"""Minification of a failure of the compiler to a few lines that anybody can run."""
