"""Observation of a program: torch's structured trace, names, modules, and the outcome.

- ``lightning``: what is compiled of a ``LightningModule``
- ``live``: listen to the structured trace, and add what only the process knows
- ``calls``: the calls of compiled functions, and which have no graph
- ``others``: the processes that the program starts, in which nothing is observed
- ``stacks``: stacks of the program's own calls
- ``names``: the tensors that names of traced code hold
- ``values``: values of the program as short texts
- ``tensors``: make the tensors of example calls (``f32[8, 16]``)
- ``modules``: what the program imports, and the environment variables that it sets
- ``overlay``: the editor's unsaved texts in place of files
- ``writing``: the log of an observed program, wherever a launcher has started it
- ``running``: run a program as ``__main__``, for ``python -m fullgraph_compiler.observe``
- ``complaints``: what an observed program is told when observing fails
- ``reach``: whether a program reaches others, who can tell that it runs
- ``refusals``: recompilations that the program forbids, and goes on without
- ``outcome``: how a program ended, and its exceptions
"""
