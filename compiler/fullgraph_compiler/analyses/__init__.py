"""The worker's half of analyses: one module for each analysis.

A module with an ``ENTRY`` is named like its analysis in ``fullgraph_server.analyses``; ``program`` serves all
analyses that are one run of the program. The entries share one module:

- ``entry``: the class of an entry, and the lookup of the entry that serves a request
"""
