"""Launch configurations of VS Code: ``.vscode/launch.json``.

- ``configurations``: the targets in it
- ``variables``: what stands for ``${workspaceFolder}`` and the like
- ``env_file``: files of environment variables
- ``jsonc``: JSON with comments
"""
