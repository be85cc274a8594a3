"""The LSP client: its documents, settings, capabilities, and view of reports.

- ``documents``: folders, URIs, versions, and columns in the client's units
- ``notebooks``: open notebooks as Python programs
- ``answering``: answers to messages that cannot be served
- ``notebook_protocol``: translation between rows of programs and rows of cells in messages
- ``configuration``: the client's settings
- ``capabilities``: the client's capabilities beyond LSP
- ``arguments``: checks of the arguments of commands
- ``targets``: targets by id or URI
- ``compiled_files``: the target that last compiled code of each file
- ``suggestions``: the targets that can analyze a file
- ``importers``: the files that import a file
- ``planner``: plans of runs, from the newest text and settings
- ``findings``: findings at their places in the current text
- ``projection``: a report indexed by row and by name, for hovers
- ``messages``: messages to the user
- ``shown_text``: escaping of invisible characters in texts that people read
- ``program_output``: what programs print
- ``progress``: progress of runs, which the user can cancel
- ``refresh``: requests to the client to fetch lenses and hints again
"""
