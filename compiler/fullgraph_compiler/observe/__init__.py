"""Observation of a program: its structured trace, names, modules, and outcome.

- ``lightning``: find the compiled parts of a ``LightningModule``, and networks to compile instead
- ``live``: listen to the structured trace, and add data that only this process has
- ``calls``: count the calls of compiled functions, and find functions without a graph
- ``others``: count the unobserved processes that the program starts
- ``stacks``: get stacks of the program's own calls
- ``names``: record the tensors bound to names in traced code
- ``values``: write values of the program as short texts
- ``tensors``: create the tensors of example calls (``f32[8, 16]``)
- ``modules``: track the modules that the program imports, and the environment variables that it sets
- ``overlay``: use the editor's unsaved texts instead of files
- ``writing``: write the log of an observed program, whatever launcher started its process
- ``running``: run a program as ``__main__``, for ``python -m fullgraph_compiler.observe``
- ``complaints``: warn on stderr that observation failed
- ``reach``: watch whether a program connects to a server or starts another program
- ``refusals``: record forbidden recompilations whose errors the program catches
- ``outcome``: describe how a program ended, and its exceptions
"""
