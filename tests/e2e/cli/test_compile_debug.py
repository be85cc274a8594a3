"""Whatever ``TORCH_COMPILE_DEBUG=1`` leaves in its folder, Fullgraph has as a document."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from fullgraph_compiler.facts import CodeGenerated
from fullgraph_compiler.trace import TraceInterpreter, read_log
from fullgraph_compiler.trace.graphs import parse_operators
from fullgraph_compiler.trace.inductor.kernels import parse_launches

PROGRAM = """\
import torch

@torch.compile
def step(x, w):
    y = torch.relu(x @ w) + 1
    return torch.softmax(y, -1).sum()

step(torch.randn(8, 16, requires_grad=True), torch.randn(16, 8)).backward()
"""
SECONDS = 300
_FOLDER = re.compile(r"model__\d+_(forward|backward|inference)_[\d.]+$")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("debug") / "model.py"
    file.write_text(PROGRAM)
    return file


@pytest.fixture(scope="module")
def theirs(program: Path) -> Path:
    """What torch leaves of a run by itself."""
    folder = program.parent / "theirs"
    settings = {"TORCH_COMPILE_DEBUG": "1", "TORCH_COMPILE_DEBUG_DIR": str(folder)}
    settings["TORCHINDUCTOR_CACHE_DIR"] = str(program.parent / "cache")
    env = {**os.environ, **settings}
    subprocess.run([sys.executable, program], check=True, env=env, timeout=SECONDS, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def ours(program: Path) -> Path:
    """What ``fullgraph kernels`` writes."""
    folder = program.parent / "ours"
    command = [Path(sys.executable).with_name("fullgraph"), "kernels", str(program), "-o", str(folder)]
    subprocess.run(command, check=True, timeout=SECONDS, capture_output=True)
    return folder


def _operators(text: str) -> list[tuple[str, str]]:
    return [(node.name, node.operator) for node in parse_operators(text)]


def _kernels(code: str) -> list[tuple[str, str]]:
    return [(launch.kernel.name, launch.kernel.source) for launch in parse_launches(code)]


def _module(code: str) -> str:
    """A runnable graph without the settings ahead of it, which are those of its process."""
    return code[code.index("class Repro") : code.index("def load_args")]


_SAME: dict[str, Callable[[str], object]] = {
    "fx_graph_readable.py": _operators,
    "fx_graph_transformed.py": _operators,
    "fx_graph_runnable.py": _module,
    "ir_pre_fusion.txt": str,
    "ir_post_fusion.txt": str,
    "output_code.py": _kernels,
    "inductor_provenance_tracking_node_mappings.json": lambda text: json.loads(text)["cppCodeToPost"],
}
"""What must be the same in both, by the name of the file."""


@pytest.mark.slow
def test_everything_in_the_debug_folder_is_a_document_that_says_the_same(theirs: Path, ours: Path) -> None:
    compared = []
    for file in sorted(path for path in theirs.rglob("*") if path.is_file()):
        text, found = file.read_text(), _FOLDER.search(str(file.parent))
        if found:
            own = ours / f"0_0_{found[1]}" / file.name
            same = _SAME[file.name]
            assert same(own.read_text()) == same(text), own
            compared.append(own.relative_to(ours))
        elif file.parent.name == "tlparse":
            _is_read_as_a_trace(file, ours)
        else:
            # Logs, in which nothing is written unless TORCH_LOGS asks for it.
            assert file.name.endswith("debug.log")
            assert text == ""
    mine = sorted(path.relative_to(ours) for path in ours.rglob("*") if path.is_file())
    print(*(f"both  {path}" for path in sorted(compared)), sep="\n")
    print(*(f"ours  {path}" for path in mine if path not in compared), sep="\n")
    assert {path.parent.name for path in compared} == {"0_0_forward", "0_0_backward"}


def _is_read_as_a_trace(file: Path, ours: Path) -> None:
    """The log for tlparse holds records that the one interpreter of Fullgraph knows."""
    interpreter = TraceInterpreter()
    facts = [fact for record in read_log(file) for fact in interpreter.feed(record)]
    for code in (fact for fact in facts if isinstance(fact, CodeGenerated)):
        own = ours / f"0_0_{code.phase}" / "output_code.py"
        assert _kernels(own.read_text()) == _kernels(code.text)
