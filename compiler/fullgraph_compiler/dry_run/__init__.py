"""Runs without data: tensors know their size, type and device only, and no file holds more than these."""
