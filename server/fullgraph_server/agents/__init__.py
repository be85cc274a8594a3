"""Tools for coding agents: findings of a run, known fixes and proofs of edits.

Their answers are small and structured.

- ``answers``: the answers of the tools
- ``tool_calls``: a call of a tool: its workspace, its runs, and earlier runs that it may read
- ``reading``: the tools that report what torch.compile did
- ``editing``: the tools that search for edits and prove them
- ``patching``: a unified diff applied to the texts of files
- ``tools``: all tools by name
"""
