"""Files on disk: sources, projects, their configuration, and the targets in them.

- ``source``: a file's text, lines and syntax tree
- ``workspace``: the user's own files
- ``packages``: the installed package that a file belongs to
- ``syntax``: helpers on syntax trees
- ``positions``: rows, columns and spans, and problems in texts that the user wrote
- ``ranges``: source ranges for the lines that torch reports
- ``drift``: the map between lines of the text that ran and current lines
- ``targets``: the programs that can run
- ``programs``: the files that are programs, and files of modules run by name
- ``examples``: example calls in comments and doctests
- ``ignores``: comments that ignore findings
- ``config``: the table ``[tool.fullgraph]`` of pyproject.toml
- ``settings_schema``: every setting in editors and in pyproject.toml
- ``setting_types``: the types of settings, and the check of their values
- ``names``: the places where assignments, loops and parameters give values to names
- ``definitions``: the definitions of parameters, variables and attributes
- ``constructions``: calls that construct objects of a file's classes
- ``own_folder``: the folder ``.fullgraph`` of a workspace
- ``notebooks/``: notebooks, converted to Python
- ``bundled``: the paths of the compiler package, for processes of another Python interpreter
- ``launch/``: the launch configurations of VS Code
"""
