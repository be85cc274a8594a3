"""Facts of a run to an immutable :class:`~.model.Report`. Pure functions: nothing here waits or reads files.

``fold`` is the entry point, ``model`` the data that everything above this package reads.
"""
