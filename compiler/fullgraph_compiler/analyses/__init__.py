"""The worker's half of analyses: what runs for a request, one module for each analysis.

A module with an ``ENTRY`` has the name of its analysis in ``fullgraph_server.analyses``; ``program`` is for
those that are one run of the program. What entries share:

- ``entry``: what a module says of itself, and the entry of a request
"""
