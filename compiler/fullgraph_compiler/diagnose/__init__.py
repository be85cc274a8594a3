"""Diagnosis of failures and slow compilation: stages, recipes, times, bisection."""
