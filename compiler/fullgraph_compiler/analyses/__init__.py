"""The worker's half of analyses: one module for each analysis.

A module with an ``ENTRY`` has the name of its analysis in ``fullgraph_server.analyses``. The module
``program`` serves all analyses that are one run of the program. One more module is shared by all entries:

- ``entry``: the class of an entry, and the lookup of the entry that serves a request
"""
