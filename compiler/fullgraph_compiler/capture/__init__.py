"""Runs of a program under observation, which report what torch.compile did.

- ``run``: run a program once, from start to end
- ``depths``: make the compiler stop and report at the depth of a run
- ``scripts``: run a file, a module or a console script as ``__main__``
- ``modules``: find a module by its name, and the module name of a script in a package
- ``console_scripts``: find a console script by its name
- ``pytest_node``: run one pytest node
- ``examples``: run example calls
- ``notebooks``: compile and execute notebooks, which may use ``await`` at top level
- ``switches``: apply settings of a run that override the program's own
"""
