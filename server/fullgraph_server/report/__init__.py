"""Fold the facts of a run into an immutable :class:`~.model.Report`.

No function of this package waits for anything, and user files are read through the workspace only.

``measured/`` attributes the time of measured calls, ``caches/`` reports hits and misses of caches,
``exports/`` explains why ``torch.export`` fails, ``answers/`` advises on graph breaks and errors,
``lines/`` maps lines to operations, kernels and tensors.

- ``model``: the classes of a report, which the features outside this package read
- ``fold``: facts to a report; the entry point
- ``facts_by_type``: the facts of a run, grouped by their type
- ``findings``: findings from facts
- ``finding_builder``: findings under construction, and findings that a comment tells Fullgraph to ignore
- ``frames``: the compiled functions: counts and guards
- ``source_locator``: the line of the user's code that a fact belongs to
- ``recompiles``: recompilations and recompile limits
- ``profile``: recompilations by function
- ``sizes``: conditions on symbolic sizes
- ``origins``: the kind of a guarded value, and where the value comes from
- ``speed``: findings about speed, and the list of compilations
- ``phases``: the compiler's steps as a tree
- ``faults``: the results of the stages, as findings and a verdict
- ``recipes``: the results of the recipes, as a table and a sentence
- ``wrappers``: graph breaks that DDP and FSDP cause
- ``kernels``: generated code and its launches
- ``artifacts``: the documents of a report
"""
