"""When and how a target runs: the schedule of generations, and every kind of execution.

``schedule`` is the entry point; ``plan`` is what it is given, and ``execution`` makes the report of one
generation.
"""
