"""Traces that were made elsewhere, read here: their logs and ranks, and the files of theirs that are here."""
