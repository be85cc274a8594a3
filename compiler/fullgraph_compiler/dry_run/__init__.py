"""Runs without data: tensors and saved files have sizes, dtypes and devices only."""
