"""Runs and their results: workers, facts as they come in, reports."""
