"""Tools for coding agents: findings of a run, known fixes and proofs of edits.

The answers of the tools are small and structured.

- ``answers``: the answers of the tools
- ``tool_calls``: one call of a tool, with its workspace and runs; runs that later calls may read
- ``reading``: the tools that report what torch.compile did
- ``editing``: the tools that search for edits and prove them
- ``patching``: a unified diff applied to the texts of files
- ``tools``: all tools by name
"""
