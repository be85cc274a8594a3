"""Observation of a program: its structured trace, names, modules, and outcome.

- ``lightning``: which parts of a ``LightningModule`` are compiled, and which could be instead
- ``live``: listen to the structured trace, and add data that only the process has
- ``calls``: calls of compiled functions, and which functions have no graph
- ``others``: the unobserved processes that the program starts
- ``stacks``: stacks of the program's own calls
- ``names``: the tensors bound to names in traced code
- ``values``: values of the program as short texts
- ``tensors``: make the tensors of example calls (``f32[8, 16]``)
- ``modules``: the modules that the program imports, and the environment variables that it sets
- ``overlay``: use the editor's unsaved texts instead of files
- ``writing``: write the log of an observed program, in whatever process a launcher started it
- ``running``: run a program as ``__main__``, for ``python -m fullgraph_compiler.observe``
- ``complaints``: the warning on stderr when observation fails
- ``reach``: whether a program connects to a server or starts another program
- ``refusals``: recompilations that the program forbids, and whose errors it catches
- ``outcome``: how a program ended, and its exceptions
"""
