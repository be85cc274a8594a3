"""Calls of whatever `torch.compile` takes are seen, and the observer takes no part in them."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from forked import observe
from fullgraph_compiler.facts import (
    CallsCounted,
    CallsWithoutGraph,
    Fact,
    FrameStarted,
    GraphBreak,
    LateCompilation,
    Recompile,
    RecompileLimit,
    Script,
    Switches,
)

ENTRIES = Path(__file__).parents[2] / "cases" / "truth" / "subjects" / "entries.py"
COMPILED = {
    "method": """
        class Trainer:
            def __init__(self):
                self.step = torch.compile(self.step)

            def step(self, x):
                return x * 2

        f = Trainer().step
    """,
    "method of a module": """
        class Net(torch.nn.Module):
            def encode(self, x):
                return x * 2

        f = torch.compile(Net().encode)
    """,
    "class method": """
        class Ops:
            @classmethod
            def double(cls, x):
                return x * 2

        f = torch.compile(Ops.double)
    """,
    "partial": "f = torch.compile(functools.partial(lambda x, k: x * k, k=2))",
    "callable object": """
        class Scale:
            def __call__(self, x):
                return x * 2

        f = torch.compile(Scale())
    """,
    "unhashable object": """
        class Scale:
            __hash__ = None

            def __call__(self, x):
                return x * 2

        f = torch.compile(Scale())
    """,
    "builtin": "f = torch.compile(torch.sin)",
    "function of torch": "f = torch.compile(torch.nn.functional.softplus)",
    "module": "f = torch.compile(torch.nn.ReLU())",
    "module in place": """
        class Net(torch.nn.Module):
            def forward(self, x):
                return x * 2

        f = Net()
        f.compile()
    """,
    "cached function": """
        @torch.compile
        @functools.lru_cache
        def f(x):
            return x * 2
    """,
}
"""Programs that make ``f``, a compiled function of a tensor."""


def facts_of(source: str, folder: Path, *, warm_up: int | None = None) -> tuple[Fact, ...]:
    path = folder / "program.py"
    path.write_text("import functools\nimport torch\n" + dedent(source))
    if warm_up is None:
        return observe(Script(str(path)), folder)
    return observe(Script(str(path)), folder, depth="late-compile", switches=Switches(warm_up=warm_up))


@pytest.mark.parametrize("kind", COMPILED)
def test_a_call_is_seen(kind: str, tmp_path: Path) -> None:
    facts = facts_of(dedent(COMPILED[kind]) + "\nf(torch.ones(3))\n", tmp_path)
    assert any(isinstance(fact, FrameStarted) for fact in facts)
    assert not [fact for fact in facts if isinstance(fact, CallsWithoutGraph)]


@pytest.mark.parametrize("kind", COMPILED)
def test_a_compilation_after_the_warm_up_is_late(kind: str, tmp_path: Path) -> None:
    calls = "\nfor size in (2, 3):\n    f(torch.ones(size))\n"
    facts = facts_of(dedent(COMPILED[kind]) + calls, tmp_path, warm_up=1)
    started = [fact for fact in facts if isinstance(fact, FrameStarted)]
    late = [fact for fact in facts if isinstance(fact, LateCompilation)]
    assert [fact.compile_id for fact in late] == [started[-1].compile_id]


def test_a_call_without_a_graph_is_told(tmp_path: Path) -> None:
    source = """
        class Trainer:
            def step(self, x):
                return len(x)

        torch.compile(Trainer().step)([1])
    """
    (told,) = [fact for fact in facts_of(source, tmp_path) if isinstance(fact, CallsWithoutGraph)]
    assert (told.function, told.calls) == ("Trainer.step", 1)


def test_modules_that_share_a_graph_all_have_one(tmp_path: Path) -> None:
    source = """
        class Block(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = torch.nn.Linear(4, 4)

            def forward(self, x):
                return self.linear(x)

        model = torch.nn.Sequential(Block(), Block(), Block())
        for block in model:
            block.compile()
        # As `fully_shard` does.
        model[1].__class__ = type("FSDPBlock", (Block,), {})
        with torch.no_grad():
            model(torch.ones(2, 4))
    """
    assert not [fact for fact in facts_of(source, tmp_path) if isinstance(fact, CallsWithoutGraph)]


@pytest.mark.parametrize("objects", [1, 3])
def test_a_limit_says_how_many_calls_there_were_by_then_and_in_all(objects: int, tmp_path: Path) -> None:
    source = f"""
        torch._dynamo.config.recompile_limit = 2

        class Scale(torch.nn.Module):
            def forward(self, x, k):
                return x * k

        scales = [Scale() for _ in range({objects})]
        for scale in scales:
            scale.compile(backend="eager", dynamic=False)
        for k in range(2, 7):
            scales[k % {objects}](torch.ones(2), k)
    """
    facts = facts_of(source, tmp_path)
    (limit,) = [fact for fact in facts if isinstance(fact, RecompileLimit)]
    (counted,) = [fact for fact in facts if isinstance(fact, CallsCounted)]
    assert (limit.called, counted.calls) == (3, 5)
    assert (counted.filename, counted.row) == (limit.filename, limit.row)


def test_a_function_that_is_compiled_while_it_is_traced_breaks_as_in_torch(tmp_path: Path) -> None:
    facts = observe(Script(str(ENTRIES), ("compiled_at_first_use",)), tmp_path)
    assert {fact.code for fact in facts if isinstance(fact, GraphBreak)} == {"GB0059"}


def test_compiled_autograd_in_a_compiled_step_has_the_breaks_of_the_step_alone(tmp_path: Path) -> None:
    facts = observe(Script(str(ENTRIES), ("compiled_autograd_in_a_step",)), tmp_path)
    assert [fact.code for fact in facts if isinstance(fact, GraphBreak)] == ["GB0123"]
    assert not [fact for fact in facts if isinstance(fact, Recompile)]


def test_a_compiled_function_below_one_that_is_disabled_recompiles_as_in_torch(tmp_path: Path) -> None:
    facts = observe(Script(str(ENTRIES), ("compiled_below_disabled",)), tmp_path)
    (recompile,) = [fact for fact in facts if isinstance(fact, Recompile)]
    assert [failure.source for failure in recompile.failures] == ["L['n']"]
