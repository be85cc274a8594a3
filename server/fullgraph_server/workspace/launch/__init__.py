"""Launch configurations of VS Code: ``.vscode/launch.json``.

- ``configurations``: the targets in launch.json
- ``variables``: the values of ``${workspaceFolder}`` and other variables
- ``env_file``: files of environment variables
- ``jsonc``: JSON with comments
"""
