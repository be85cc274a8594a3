"""Tools for coding agents: what a run told, fixes, and edits that are tried, as small structured answers.

- ``answers``: what the tools answer
- ``tool_calls``: a call of a tool: its workspace, its runs, and the runs that it may look at again
- ``reading``: the tools that tell what torch.compile did
- ``editing``: the tools that search for edits and prove them
- ``patching``: a unified diff applied to the texts of files
- ``tools``: all tools by name
"""
