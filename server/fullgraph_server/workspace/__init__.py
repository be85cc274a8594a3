"""Files on disk: sources, projects, their configuration, and the targets in them.

- ``source``: a file's text, lines and syntax tree
- ``workspace``: the user's own files
- ``packages``: the installed package that a file belongs to
- ``syntax``: helpers on syntax trees
- ``positions``: rows, columns and spans, and mistakes in what a person wrote
- ``ranges``: ranges for the places that torch reports
- ``drift``: the current lines for lines of the text that ran
- ``targets``: the programs that can run
- ``programs``: files that do something when they run
- ``examples``: example calls in comments and doctests
- ``ignores``: comments that ignore findings
- ``config``: ``[tool.fullgraph]`` of pyproject.toml
- ``settings_schema``: every setting of editors and of pyproject.toml
- ``setting_types``: the types of settings, and the validator of both
- ``names``: the places where names get their values
- ``definitions``: the definitions of parameters, variables and attributes
- ``constructions``: calls that construct objects of a source's classes
- ``own_folder``: the folder ``.fullgraph`` of a workspace
- ``notebooks/``: notebooks as Python
- ``bundled``: the paths of the compiler package, for processes of another Python
- ``launch/``: the launch configurations of VS Code
"""
