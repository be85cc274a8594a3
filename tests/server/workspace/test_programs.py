"""Files that run as programs, and the files that import a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from fullgraph_server.client.importers import importers
from fullgraph_server.workspace.programs import does_something, is_program
from fullgraph_server.workspace.source import SourceFile


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("model = torch.compile(model)\nwhile True:\n    with ctx:\n        loss = model(x)", True),
        ("if compile:\n    model = torch.compile(model)\nfor x in data:\n    model(x)", True),
        ("model = DDP(torch.compile(model))\ntrain(model)", True),
        ("torch.compile(f)(x)", True),
        ("net = Net()\nnet.compile()\nprint(net(x))", True),
        ("@torch.compile\ndef f(x):\n    return x\n\nprint(f(x))", True),
        ("@torch.compile(dynamic=True)\ndef f(x):\n    return x\n\ny = f(x)", True),
        ("if __name__ == '__main__':\n    main()", True),
        ("f = torch.compile(g)", False),
        ("@torch.compile\ndef f(x):\n    return x", False),
        ("@torch.compile\ndef f(x):\n    return f(x - 1)\n\ntorch.manual_seed(0)", False),
        ("def main():\n    torch.compile(f)(x)", False),
        ("import re\nPATTERN = re.compile('a')\nPATTERN.match(x)", False),
        ("print('no compile')", False),
        ("f(", False),
    ],
)
def test_a_program_calls_at_its_top_what_it_compiles(text: str, expected: bool) -> None:
    assert is_program(SourceFile("a.py", text)) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("print(1)", True),
        ("import torch\ntorch.ones(1)\nraise ValueError", True),
        ("for x in y:\n    pass", True),
        ("if a:\n    f(1)", True),
        ('"""Text."""\nimport torch\nfrom a import b\nx = f(1)\n\ndef g():\n    print(1)', False),
        ("class A:\n    x = print(1)", False),
        ("f(", False),
    ],
)
def test_a_file_does_something_or_only_defines_things(text: str, expected: bool) -> None:
    assert does_something(SourceFile("a.py", text)) is expected


def test_importers_are_found_the_nearest_first(tmp_path: Path) -> None:
    files = {
        "model.py": "",
        "train.py": "import os\nfrom model import (\n    GPT,\n    Config,\n)",
        "tools/run.py": "    from .. import train",
        "pkg/__init__.py": "from ..tools.run import main",
        "last.py": "import sys, pkg as p  # of all",
        "other.py": "# import model\nmodel = 1",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    found = importers(str(tmp_path / "model.py"), [tmp_path])
    assert [Path(name).relative_to(tmp_path).as_posix() for name in found] == [
        "train.py", "tools/run.py", "pkg/__init__.py", "last.py"
    ]  # fmt: skip


def test_modules_that_import_each_other_end(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import b")
    (tmp_path / "b.py").write_text("import a")
    assert importers(str(tmp_path / "a.py"), [tmp_path]) == [str(tmp_path / "b.py")]
