"""Folding of the facts of a run into an immutable :class:`~.model.Report`.

Nothing here waits, and the user's files are read through the workspace only.

``fold`` is the entry point, ``model`` the data that everything above this package reads;
``measured/`` says what measured calls are spent for, ``caches/`` what came of graphs in caches,
``exports/`` what ``torch.export`` met, ``answers/`` what to do about breaks and errors,
``lines/`` what each line became.

- ``model``: the report, its findings, and all that features read
- ``fold``: facts to a report; the entry point
- ``facts_by_type``: the facts of a run, grouped by their type
- ``findings``: the facts that become findings
- ``finding_builder``: findings while further facts may add to them, and those that comments ignore
- ``frames``: the compiled functions: counts and guards
- ``source_locator``: the user's line that a fact belongs to
- ``recompiles``: recompilations and recompile limits
- ``profile``: recompilations by function
- ``sizes``: conditions on symbolic sizes
- ``origins``: the kind of a guarded value, and where it comes from
- ``speed``: findings about speed, and compilations one by one
- ``phases``: the compiler's steps as a tree
- ``faults``: the results of the stages, as findings and a verdict
- ``recipes``: the results of the recipes, as a table and a sentence
- ``wrappers``: breaks that come with DDP and FSDP
- ``kernels``: generated code and its launches
- ``artifacts``: the documents of a report
"""
