"""From a trace to example calls and back: they compile what the traced program compiled, as often."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from textwrap import dedent

import pytest
from forked import observe
from fullgraph_compiler.facts import (
    Examples,
    Fact,
    FrameCompiled,
    GraphBreak,
    ProgramRaised,
    Recompile,
    TargetProblem,
)
from fullgraph_compiler.trace import TraceInterpreter, read_log
from fullgraph_server.report.model import Report
from fullgraph_server.traces.seen_calls import example_lines, seen_calls
from fullgraph_server.workspace.examples import find_examples
from fullgraph_server.workspace.source import SourceFile
from fullgraph_server.workspace.workspace import Workspace

# What is traced once is for all tests.
pytestmark = pytest.mark.xdist_group("test_trace_examples")

HEADER = """\
from collections import namedtuple
from dataclasses import dataclass
import torch
from torch import nn, randn
compiled = torch.compile(backend="eager")

"""

PROGRAMS = {
    "shapes": """
        @compiled
        def f(a, b):
            return a @ b

        def main():
            f(randn(3, 4), randn(4, 5))
            f(randn(6, 4), randn(4, 5))
            f(randn(9, 4), randn(4, 5))
    """,
    "keywords": """
        @compiled
        def f(x, *, scale, bias=None, mode="sum"):
            y = x * scale
            if bias is not None:
                y = y + bias
            return y.sum() if mode == "sum" else y

        def main():
            f(randn(3), scale=2.0, bias=randn(3))
            f(randn(3), scale=3.0, mode="none")
    """,
    "more_arguments": """
        @compiled
        def f(first, *args, **kwargs):
            return first + args[0] + args[1] * kwargs["k"] + kwargs["t"]

        def main():
            f(randn(3), randn(3), randn(3), k=3, t=randn(3))
            f(randn(3), randn(3), randn(3), randn(3), k=3, t=randn(3))
    """,
    "containers": """
        @compiled
        def f(xs, d, t):
            return sum(xs) + d["a"]["b"] * d["s"] + t[0] * t[1]

        def main():
            f([randn(3), randn(3)], {"a": {"b": randn(3)}, "s": 2}, (randn(3), 4))
            f([randn(3)], {"a": {"b": randn(3)}, "s": 2}, (randn(3), 4))
    """,
    "scalars": """
        @compiled
        def f(x, n, flag, scale, dtype):
            return (x * n + scale if flag else x - n).to(dtype)

        def main():
            f(randn(3), 3, True, 1.5, torch.float64)
            f(randn(3), 5, True, 2.5, torch.float64)
            f(randn(3), 5, False, 2.5, torch.float64)
    """,
    "the_same_twice": """
        @compiled
        def f(a, b):
            return a + b * 2

        def main():
            x = randn(3)
            f(x, x)
            f(x, randn(3))
    """,
    "graph_break": """
        @compiled
        def f(a, b, n=2):
            x = a / (torch.abs(a) + 1)
            print("woo")
            if b.sum() < 100:
                b = b * -n
            return x * b

        def main():
            f(randn(10), randn(10), 3)
            f(randn(12), randn(12), 3)
    """,
    "break_in_a_loop": """
        @compiled
        def f(x):
            for _ in range(2):
                x = x + 1
                torch._dynamo.graph_break()
            return x

        def main():
            f(randn(3))
    """,
    "module": """
        class Net(nn.Module):
            def __init__(self, d=4):
                super().__init__()
                self.linear = nn.Linear(d, d)

            def forward(self, x, mask=None):
                y = self.linear(x)
                return y if mask is None else y * mask

        def main():
            net = compiled(Net())
            net(randn(2, 4))
            net(randn(2, 4), randn(2, 4) > 0)
            net(randn(5, 4))
    """,
    "language_model": """
        @dataclass
        class Config:
            vocab: int
            width: int = 8

        class Model(nn.Module):
            def __init__(self, config):
                super().__init__()
                self.tokens = nn.Embedding(config.vocab, config.width)
                self.head = nn.Linear(config.width, config.vocab)

            def forward(self, tokens, targets=None):
                logits = self.head(self.tokens(tokens))
                if targets is None:
                    return logits
                return nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())

        def main():
            config = Config(vocab=32)
            model = torch.compile(Model(config), backend="aot_eager")
            tokens = torch.randint(0, 32, (4, 16))
            model(tokens)
            model(tokens, tokens).backward()
            model(tokens[:, :9], tokens[:, :9]).backward()
    """,
    "gradients": """
        @compiled
        def f(x, weight):
            return nn.functional.linear(x, weight).relu()

        def main():
            weight = nn.Parameter(randn(5, 4))
            f(randn(3, 4), weight)
            f(randn(3, 4, requires_grad=True), weight)
            f(randn(3, 4), weight.detach())
    """,
    "strides": """
        @compiled
        def f(x):
            return x + 1

        def main():
            f(randn(3, 4))
            f(randn(4, 3).t())
            f(randn(2, 3, 4).permute(2, 0, 1))
    """,
    "dtypes": """
        @compiled
        def f(x, index, mask):
            return torch.where(mask, x[index].double(), 0)

        def main():
            f(randn(5), torch.tensor([1, 0]), torch.tensor([True, False]))
            f(randn(5).bfloat16(), torch.tensor([1, 0]), torch.tensor([True, False]))
            f(torch.tensor(2.0).expand(5), torch.tensor([1, 0]), torch.tensor(True))
    """,
    "records": """
        Pair = namedtuple("Pair", "a b")

        @dataclass
        class Batch:
            x: torch.Tensor
            n: int
            unused: object
            more: int = 1

        @compiled
        def f(pair, batch):
            return pair.a + pair.b * batch.x * batch.n

        def main():
            f(Pair(randn(3), randn(3)), Batch(randn(3), 2, None))
            f(Pair(randn(4), randn(4)), Batch(randn(4), 2, None))
    """,
    "methods": """
        class Loss:
            def __init__(self, scale):
                self.scale = scale

            def total(self, x, y):
                return ((x - y) * self.scale).sum()

            @staticmethod
            @compiled
            def mean(x):
                return x.mean()

        def main():
            total = compiled(Loss(3).total)
            total(randn(3), randn(3))
            Loss.mean(randn(3))
            Loss.mean(randn(3, 2))
    """,
    "inherited": """
        class Base(nn.Module):
            def forward(self, x):
                return self.scale(x) + 1

        class Twice(Base):
            def scale(self, x):
                return x * 2

        def main():
            net = compiled(Twice())
            net(randn(3))
            net(randn(4))
    """,
}


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Fact]]:
    """All programs, run in one process: their folder, and what the trace tells."""
    folder = tmp_path_factory.mktemp("programs")
    for name, text in PROGRAMS.items():
        (folder / f"{name}.py").write_text(HEADER + dedent(text))
    modules = ", ".join(PROGRAMS)
    (folder / "train.py").write_text(f"import {modules}\nfor module in ({modules}):\n    module.main()\n")
    environment = {**os.environ, "TORCH_TRACE": str(folder / "trace"), "TORCH_LOGS": "graph_breaks"}
    command = [sys.executable, "train.py"]
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    (log,) = (folder / "trace").glob("*.log")
    interpreter = TraceInterpreter()
    facts: list[Fact] = []
    for record in read_log(log):
        facts += interpreter.feed(record)
    return folder, [*facts, *interpreter.finish()]


def compilations(facts: Iterable[Fact], path: Path) -> Counter[tuple[str, ...]]:
    """What a file's functions were compiled to, however the program came there."""
    facts = list(facts)
    own = {
        fact.compile_id for fact in facts if isinstance(fact, FrameCompiled) and fact.filename == str(path)
    }
    found: Counter[tuple[str, ...]] = Counter()
    for fact in facts:
        if isinstance(fact, FrameCompiled) and fact.compile_id in own:
            found["compiled", fact.function, str(fact.graphs), str(fact.ops)] += 1
        elif isinstance(fact, Recompile) and fact.compile_id in own:
            kinds = sorted(f"{failure.source} {failure.kind} {failure.changed}" for failure in fact.failures)
            found[("recompiled", *kinds)] += 1
        elif isinstance(fact, GraphBreak) and fact.compile_id in own:
            found["broken", fact.code] += 1
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_example_calls_compile_what_the_traced_program_compiled(
    name: str, traced: tuple[Path, list[Fact]], tmp_path: Path
) -> None:
    folder, facts = traced
    original = folder / f"{name}.py"
    calls = seen_calls(facts, Workspace(folder))
    own = tuple(call for call in calls if call.filename == str(original))
    assert own
    assert all(call.complete for call in own)

    lines = original.read_text().splitlines()
    for _, row, comments in reversed(example_lines(Report("log", 1, calls=own))):
        lines[row - 1 : row - 1] = [
            lines[row - 1][: -len(lines[row - 1].lstrip())] + line for line in comments
        ]
    copy = tmp_path / original.name
    copy.write_text("\n".join(lines) + "\n")
    found = find_examples(SourceFile(str(copy), copy.read_text()))
    assert found.problems == ()
    again = observe(Examples(str(copy), found.examples), tmp_path)

    assert [fact for fact in again if isinstance(fact, (ProgramRaised, TargetProblem))] == []
    expected = compilations(facts, original)
    assert expected
    assert compilations(again, copy) == expected
