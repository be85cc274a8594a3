"""Facts of a run to an immutable :class:`~.model.Report`. Pure functions: nothing here waits or reads files.

``fold`` is the entry point, ``model`` the data that everything above this package reads.

- ``model``: the report, its findings, and all that features read
- ``fold``: facts to a report; the entry point
- ``finding_builder``: findings while further facts may add to them
- ``frames``: the compiled functions: counts and guards
- ``source_locator``: the user's line that a fact belongs to
- ``recompiles``: recompilations and recompile limits
- ``profile``: recompilations by function
- ``sizes``: conditions on symbolic sizes
- ``origins``: what a guarded value is, and where it comes from
- ``speed``: findings about speed, and compilations one by one
- ``phases``: the compiler's steps as a tree
- ``faults``: what the stages say, as findings and a verdict
- ``recipes``: what the recipes say
- ``wrappers``: breaks that come with DDP and FSDP
- ``kernels``: generated code and its launches
- ``kernel_lines``: the operation that a line of a kernel computes
- ``artifacts``: the documents of a report
- ``graph_lines``: which graph each statement is in
- ``tensors``: the tensors that names hold
"""
