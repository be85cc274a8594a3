"""What keeps a program from being compiled is told: settings, variables, stances, errors that it catches."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
import torch
from forked import observe
from fullgraph_compiler.facts import Script
from fullgraph_server.cli.fail_on import FAIL_ON
from fullgraph_server.report.fold import fold
from fullgraph_server.report.model import Finding
from fullgraph_server.workspace.workspace import Workspace

FUNCTION = """
    import torch

    @torch.compile({options})
    def f(x, n=1):
        return x + n
"""
CAUGHT = {
    "a mark that is refused": """
        @torch.compile(backend="eager")
        def f(x):
            return x + torch.ones(2)

        x = torch.ones(2)
        torch._dynamo.mark_dynamic(x, 0)
        try:
            f(x)
        except Exception:
            pass
    """,
    "an export that fails": """
        class Net(torch.nn.Module):
            def forward(self, x):
                return x + 1 if x.sum() > 0 else x

        try:
            torch.export.export(Net(), (torch.ones(2),))
        except Exception:
            pass
    """,
    "a break under fullgraph": """
        @torch.compile(fullgraph=True, backend="eager")
        def f(x):
            print("no")
            return x + 1

        try:
            f(torch.ones(2))
        except torch._dynamo.exc.Unsupported:
            pass
    """,
    "a backend that fails": """
        def bad(graph, inputs):
            raise RuntimeError("broken")

        @torch.compile(backend=bad)
        def f(x):
            return x + 1

        try:
            f(torch.ones(2))
        except Exception:
            pass
    """,
    "suppressed errors": """
        torch._dynamo.config.suppress_errors = True

        def bad(graph, inputs):
            raise RuntimeError("broken")

        torch.compile(lambda x: x + 1, backend=bad)(torch.ones(2))
    """,
    "a refused recompilation": """
        torch._dynamo.config.error_on_recompile = True
        f = torch.compile(lambda x, n: x + n)
        f(torch.ones(2), 2.0)
        try:
            f(torch.ones(2), "3")
        except torch._dynamo.exc.RecompileError:
            pass
    """,
    "a stance": """
        f = torch.compile(lambda x: x + 1)
        f(torch.ones(2))
        try:
            with torch.compiler.set_stance("fail_on_recompile"):
                f(torch.ones(2, dtype=torch.float64))
        except RuntimeError:
            pass
    """,
}


def found(source: str, folder: Path) -> tuple[Finding, ...]:
    path = folder / "program.py"
    path.write_text(dedent(source))
    facts = observe(Script(str(path)), folder)
    return fold(str(path), 1, torch.__version__, facts, Workspace(folder)).findings


@pytest.mark.parametrize(
    ("options", "before", "message"),
    [
        ("disable=True", "", "nothing was compiled: `disable=True` turns compiling off"),
        (
            "",
            'torch.compiler.set_stance("force_eager")',
            (
                "no graph was captured in 1 call of `f`: it runs eagerly, since "
                '`torch.compiler.set_stance("force_eager")` is set'
            ),
        ),
        (
            "",
            "torch._dynamo.config.disable = True",
            (
                "no graph was captured in 1 call of `f`: it runs eagerly, since "
                "`torch._dynamo.config.disable = True` is set"
            ),
        ),
    ],
)
def test_what_turns_compiling_off_is_named(options: str, before: str, message: str, tmp_path: Path) -> None:
    source = dedent(FUNCTION.format(options=options)) + f"\n{before}\nf(torch.ones(2))\n"
    assert [finding.message for finding in found(source, tmp_path)] == [message]


def test_a_variable_that_turns_compiling_off_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORCHDYNAMO_DISABLE", "1")
    source = dedent(FUNCTION.format(options="")) + "\nf(torch.ones(2))\n"
    messages = [finding.message for finding in found(source, tmp_path)]
    assert messages == ["nothing was compiled: `TORCHDYNAMO_DISABLE=1` turns compiling off"]


@pytest.mark.parametrize("kind", CAUGHT)
def test_an_error_after_which_the_program_goes_on_is_told_and_does_not_fail(
    kind: str, tmp_path: Path
) -> None:
    (finding,) = found("import torch\n" + dedent(CAUGHT[kind]), tmp_path)
    assert "The program went on after this error." in finding.explanation
    assert not FAIL_ON["failure"](finding)


@pytest.mark.parametrize("kind", ["a break under fullgraph", "a backend that fails"])
def test_an_error_that_ends_the_program_fails(kind: str, tmp_path: Path) -> None:
    source = dedent(CAUGHT[kind]).replace("pass", "raise")
    (finding,) = found("import torch\n" + source, tmp_path)
    assert "went on" not in finding.explanation
    assert FAIL_ON["failure"](finding)


def test_a_refused_recompilation_that_ends_the_program_is_told_once(tmp_path: Path) -> None:
    source = dedent(CAUGHT["a refused recompilation"]).replace("pass", "raise")
    (finding,) = found("import torch\n" + source, tmp_path)
    assert finding.severity == "error"


@pytest.mark.parametrize(
    ("made", "name"),
    [
        ("compiled = torch.compile(plain)\nplain(torch.ones(2))", "plain"),
        ("net = Net()\nnet.compile()\nnet.encode(torch.ones(2))", "Net.forward"),
        ("net = torch.compile(Net())\nnet.encode(torch.ones(2))", "Net.forward"),
    ],
)
def test_what_was_compiled_and_never_called_is_named(made: str, name: str, tmp_path: Path) -> None:
    source = """
        import torch

        def plain(x):
            return x + 1

        class Net(torch.nn.Module):
            def forward(self, x):
                return x * 2

            def encode(self, x):
                return x + 1

    """
    (finding,) = found(dedent(source) + made, tmp_path)
    assert finding.message == f"`{name}` was compiled, but the program never called the compiled version"
    assert (finding.kind, finding.of_run) == ("nothing-compiled", False)
    assert "run uncompiled" in finding.hints[0]


@pytest.mark.parametrize(("mode", "told"), [("reduce-overhead", True), ("default", False)])
def test_a_mode_that_changes_nothing_on_a_cpu_is_named(mode: str, told: bool, tmp_path: Path) -> None:
    source = f'import torch\ntorch.compile(lambda x: x + 1, mode="{mode}")(torch.ones(2))\n'
    messages = [finding.message for finding in found(source, tmp_path)]
    assert any("has no effect on a CPU" in message for message in messages) == told
