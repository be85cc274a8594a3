"""The demo in a browser is for the user who starts it, and for no other one of the machine."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "scripts" / "demo.sh"
CODE_SERVER = f"""\
#!{sys.executable}
import os, pathlib, sys
if "--install-extension" not in sys.argv:
    asked = [os.environ["PASSWORD"], str("HASHED_PASSWORD" in os.environ), *sys.argv]
    pathlib.Path("asked").write_text("\\n".join(asked))
    print("[info] HTTP server listening on http://127.0.0.1:4567/")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script")
def test_the_demo_asks_for_a_password(tmp_path: Path) -> None:
    code_server = tmp_path / "code-server"
    code_server.write_text(CODE_SERVER)
    code_server.chmod(0o755)
    env = {"PATH": os.defpath, "HASHED_PASSWORD": "x", "HOME": str(tmp_path)}
    passwords = set()
    for _ in range(2):
        told = subprocess.run(
            ["sh", SCRIPT, "x.vsix", code_server],
            cwd=tmp_path,
            env=env,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        password, hashed, *arguments = (tmp_path / "asked").read_text().split("\n")
        assert arguments[arguments.index("--auth") + 1] == "password"
        assert arguments[arguments.index("--bind-addr") + 1] == "127.0.0.1:0"
        assert hashed == "False", "it would take the place of the password"
        assert re.fullmatch("[0-9a-f]{32}", password)
        assert told == (
            f"Open http://127.0.0.1:4567/?folder={tmp_path}/examples in a browser, "
            f"with the password {password}; Ctrl-C ends it.\n"
        )
        passwords.add(password)
    assert len(passwords) == 2
    assert (tmp_path / ".cache" / "demo").stat().st_mode & 0o077 == 0
