"""Files on disk: sources, projects, their configuration, and the targets in them.

- ``source``: a file's text, lines and syntax tree
- ``workspace``: which files are the user's own
- ``packages``: which installed package a file belongs to
- ``syntax``: helpers on syntax trees
- ``positions``: rows, columns and spans, and mistakes in what a person wrote
- ``ranges``: from the places that torch names to ranges
- ``drift``: where lines of the text that ran are now
- ``targets``: what can be run
- ``programs``: which files do something when they run
- ``examples``: example calls in comments and doctests
- ``ignores``: comments that ignore findings
- ``config``: ``[tool.fullgraph]`` of pyproject.toml
- ``settings_schema``: every setting of editors and of pyproject.toml
- ``setting_types``: the types of settings, and the validator of both
- ``names``: where names get their values
- ``definitions``: where parameters, variables and attributes are defined
- ``constructions``: how the source makes objects of its classes
- ``own_folder``: the folder ``.fullgraph`` of a workspace
- ``notebooks/``: notebooks as Python
- ``bundled``: the compiler package as a process of another Python finds it
- ``launch/``: the launch configurations of VS Code
"""
