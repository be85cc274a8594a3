"""Which installed package a file belongs to, of which version, and whether it is as it was installed."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

import pytest
from fullgraph_server.workspace.packages import (
    InstalledPackage,
    installed_package,
    is_installed,
    package_name,
)
from fullgraph_server.workspace.workspace import Workspace

TEXT = "def f(x):\n    return x\n"


def install(site: Path) -> Path:
    """Install ``layers`` 1.2 in a folder, with a module in a package of it; return the module."""
    module = site / "layers" / "deep" / "blocks.py"
    module.parent.mkdir(parents=True)
    for folder in (module.parent, module.parents[1]):
        (folder / "__init__.py").touch()
    module.write_text(TEXT)
    digest = base64.urlsafe_b64encode(hashlib.sha256(TEXT.encode()).digest()).rstrip(b"=").decode()
    info = site / "torch_layers-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: torch-layers\nVersion: 1.2\n")
    (info / "RECORD").write_text(f"layers/deep/blocks.py,sha256={digest},{len(TEXT)}\nlayers/__init__.py,,\n")
    return module


@pytest.mark.parametrize("folder", ["site-packages", "vendored"])
def test_a_file_belongs_to_its_outermost_package(tmp_path: Path, folder: str) -> None:
    module = install(tmp_path / folder)
    assert package_name(str(module)) == "layers"
    assert package_name(str(tmp_path / folder / "single.py")) == "single"
    assert is_installed(str(module))
    own = tmp_path / "own" / "train.py"
    own.parent.mkdir()
    own.touch()
    assert not is_installed(str(own))


def test_a_package_has_its_version_and_the_files_that_were_edited(tmp_path: Path) -> None:
    module = install(tmp_path)
    files = (str(module),)
    assert installed_package(files[0], "layers", files) == InstalledPackage("layers", tmp_path, "1.2")
    module.write_text(f"{TEXT}# edited\n")
    assert installed_package(files[0], "layers", files).edited == files
    assert installed_package(files[0], "others", files) == InstalledPackage("others", tmp_path)


def test_a_workspace_may_have_the_files_of_one_package(tmp_path: Path) -> None:
    module = install(tmp_path / "site-packages")
    project = tmp_path / "project"
    project.mkdir()
    assert not Workspace(project).contains(str(module))
    workspace = Workspace(project, package="layers")
    assert workspace.contains(str(module))
    assert workspace.contains(str(project / "train.py"))
    assert not workspace.contains(str(tmp_path / "site-packages" / "others" / "a.py"))
