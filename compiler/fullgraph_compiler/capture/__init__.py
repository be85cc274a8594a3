"""Runs of a program under observation, which report what torch.compile did.

- ``run``: one run from start to end
- ``depths``: make the compiler stop and report at the depth of a run
- ``scripts``: run a file, a module or a console script as ``__main__``
- ``modules``: find a module by its name, and the module name of a script in a package
- ``console_scripts``: find a console script by its name
- ``pytest_node``: run one test
- ``examples``: run example calls
- ``notebooks``: programs of notebooks, which may await at their top level
- ``switches``: settings of a run that override the program's own
"""
