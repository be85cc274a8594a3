"""Example calls, doctests and pytest nodes, run by a worker."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from fullgraph_compiler import facts as f
from worker_client import Forks

pytestmark = pytest.mark.xdist_group("worker")


def example(qualname: str, *calls: str) -> f.Example:
    return f.Example(qualname, tuple(f.ExampleCall(text, row) for row, text in enumerate(calls, 1)))


def module(tmp_path: Path, text: str, name: str = "model.py") -> str:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text))
    return str(path)


def test_function_that_is_not_decorated_is_compiled(forks: Forks, tmp_path: Path) -> None:
    path = module(
        tmp_path,
        """
        import torch

        def f(a, b):
            print("woo")
            return a * b

        if __name__ == "__main__":
            raise AssertionError("the module is imported, not run")
        """,
    )
    calls = example("f", "f(f32[10], f32[10])", "f(f32[12], f32[12])")
    result = forks.run(f.Examples(path, (calls,)))
    assert {fact.code for fact in result.of(f.GraphBreak)} == {"GB0059"}
    assert [failure.dimension for fact in result.of(f.Recompile) for failure in fact.failures][:1] == [0]
    first = result.of(f.FrameStarted)[0]
    assert [(frame.filename, frame.row) for frame in first.stack] == [(path, 1)]
    assert result.of(f.RunFinished)[0].status == "finished"


def test_class_method_and_static_method(forks: Forks, tmp_path: Path) -> None:
    path = module(
        tmp_path,
        """
        import torch
        from torch import nn

        class Block(nn.Module):
            def __init__(self, d):
                super().__init__()
                self.linear = nn.Linear(d, d)

            def forward(self, x):
                return self.linear(x)

            def step(self, x):
                torch._dynamo.graph_break()
                return x

            @staticmethod
            def double(x):
                return x * 2
        """,
    )
    result = forks.run(
        f.Examples(
            path,
            (
                example("Block", "Block(d=4)(f32[2, 4])", "Block(d=4)(f32[3, 4])"),
                example("Block.step", "Block(4).step(bf16[2])"),
                example("Block.double", "Block.double(i64[3])"),
            ),
        )
    )
    assert result.of(f.ProgramRaised) == []
    assert {fact.function for fact in result.of(f.FrameCompiled)} >= {"forward", "step", "double"}
    # A second instance of equal shape is no reason to compile again: only the batch is.
    (again,) = result.of(f.Recompile)
    assert [failure.source for failure in again.failures] == ["L['x']"]


def test_relative_imports_work_in_a_package(forks: Forks, tmp_path: Path) -> None:
    module(tmp_path, "", "pkg/__init__.py")
    module(tmp_path, "def helper(x):\n    return x + 1\n", "pkg/helpers.py")
    path = module(
        tmp_path, "from .helpers import helper\n\ndef f(x):\n    return helper(x)\n", "pkg/model.py"
    )
    result = forks.run(f.Examples(path, (example("f", "f(f32[2])"),)))
    assert result.of(f.ProgramRaised) == []
    assert [fact.graphs for fact in result.of(f.FrameCompiled)] == [1]


def test_call_that_raises_does_not_stop_the_next(forks: Forks, tmp_path: Path) -> None:
    path = module(tmp_path, "def f(x):\n    return x + 1\n")
    result = forks.run(f.Examples(path, (example("f", "f()", "f(f32[2])"),)))
    (raised,) = result.of(f.ProgramRaised)
    assert (raised.error, raised.stack[0].row) == ("TypeError", 1)
    assert len(result.of(f.FrameCompiled)) == 1


def test_missing_name_is_a_problem(forks: Forks, tmp_path: Path) -> None:
    path = module(tmp_path, "x = 1\n")
    result = forks.run(f.Examples(path, (example("gone", "gone(f32[2])"),)))
    assert "gone is not defined in model.py after its import" in result.of(f.TargetProblem)[0].message


def test_pytest_node(forks: Forks, tmp_path: Path) -> None:
    path = module(
        tmp_path,
        """
        import torch

        def test_breaks():
            @torch.compile
            def f(x):
                print("woo")
                return x + 1
            f(torch.ones(3))

        def test_fails():
            assert 1 == 2
        """,
        "test_model.py",
    )
    result = forks.run(f.PytestNode(f"{path}::test_breaks"))
    (found,) = result.of(f.GraphBreak)
    assert (found.code, found.stack[-1].filename, found.stack[-1].row) == ("GB0059", path, 7)
    assert result.of(f.RunFinished)[0].status == "finished"

    result = forks.run(f.PytestNode(f"{path}::test_fails"))
    (raised,) = result.of(f.ProgramRaised)
    assert (raised.error, raised.stack[-1].filename, raised.stack[-1].row) == ("AssertionError", path, 12)

    result = forks.run(f.PytestNode(f"{path}::test_gone"))
    assert "finds no test" in result.of(f.TargetProblem)[0].message
    assert result.of(f.RunFinished)[0].status == "not-started"
