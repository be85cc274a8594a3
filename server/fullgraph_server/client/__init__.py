"""The server's view of the LSP client: its documents, settings and capabilities, and reports for it.

- ``documents``: folders, URIs, versions, and columns in the client's units
- ``notebooks``: notebooks that the client shows, as programs
- ``answering``: answers to messages that cannot be served
- ``notebook_protocol``: rows of programs as those of cells, on the wire
- ``configuration``: the client's settings
- ``capabilities``: the client's capabilities beyond LSP
- ``arguments``: check the arguments of commands
- ``targets``: find targets by id or URI
- ``compiled_files``: the target that last compiled code of each file
- ``suggestions``: the targets that can analyze a file
- ``importers``: the files that import a file
- ``planner``: plans of runs, from the newest text and settings
- ``findings``: findings at their place in the text as it is now
- ``projection``: a report indexed by row and by name, for hovers
- ``messages``: messages to the user
- ``shown_text``: what people read, with invisible characters escaped
- ``program_output``: what programs print
- ``progress``: progress of runs, with cancel
- ``refresh``: ask the client to fetch lenses and hints again
"""
