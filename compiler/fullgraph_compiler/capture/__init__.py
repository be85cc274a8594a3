"""Runs of a program under observation, which report what torch.compile did.

- ``run``: one run from start to end
- ``depths``: how deep the compiler goes, and what it reports there
- ``scripts``: run a file, a module or a console script as ``__main__``
- ``modules``: find a module by name, and the name of a script in a package
- ``console_scripts``: find a console script by its name
- ``pytest_node``: run one test
- ``examples``: run example calls
- ``notebooks``: programs of notebooks, which may await at their top level
- ``switches``: settings of a run that override the program's own
"""
