"""Which versions of torch are known to work, and what is said of others."""

from __future__ import annotations

from pathlib import Path

import pytest
from forked import observe
from fullgraph_compiler.compat import torch_compat
from fullgraph_compiler.facts import FrameCompiled, ProgramRaised, Script, TargetProblem


@pytest.mark.parametrize(
    ("version", "supported"),
    [
        ("2.10.1", False),
        ("2.11.0+cu130", True),
        ("2.13.0+cpu", True),
        ("2.15.1", True),
        ("2.16.0a0+git1", False),
    ],
)
def test_supported_versions(monkeypatch: pytest.MonkeyPatch, version: str, supported: bool) -> None:
    monkeypatch.setattr(torch_compat, "version", lambda: version)
    assert torch_compat.is_supported() is supported


def test_an_untested_torch_is_told_once_and_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(torch_compat, "version", lambda: "2.99.0")
    program = tmp_path / "program.py"
    program.write_text("import torch\ntorch.compile(lambda x: x + 1)(torch.ones(2))\n")
    facts = observe(Script(str(program)), tmp_path)
    told = [fact.message for fact in facts if isinstance(fact, TargetProblem)]
    assert told == ["torch 2.99.0 is outside of the tested range 2.11 to 2.15: some findings may be missing"]
    assert any(isinstance(fact, FrameCompiled) for fact in facts)


def test_guards_are_not_timed(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import torch\n"
        "from torch._dynamo.utils import get_compilation_metrics\n"
        "torch.compile(lambda x: x + 1)(torch.ones(2))\n"
        "assert get_compilation_metrics()[-1].guard_latency_us == 0\n"
    )
    facts = observe(Script(str(program)), tmp_path)
    assert [fact for fact in facts if isinstance(fact, ProgramRaised)] == []
