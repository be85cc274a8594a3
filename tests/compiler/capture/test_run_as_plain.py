"""A run that stops before TorchInductor does to the program what compiled code does, and no more."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from forked import observe
from fullgraph_compiler.facts import CallsWithoutGraph, ProgramRaised, RunFinished, Script, TargetProblem

HOOKED = """
    import torch
    from torch.nn.modules.module import register_module_forward_pre_hook

    def scaled(module, arguments):
        (x,) = arguments
        assert module.__class__.__module__ != "torch.fx.graph_module"
        return (x * 1.5,)

    register_module_forward_pre_hook(scaled)
"""
GRAPHS = {
    "module": "f = torch.compile(torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU()))",
    "two inputs": """
        @torch.compile
        def g(x, y):
            return x + y

        def f(x):
            return g(x, x)
    """,
}


@pytest.mark.parametrize("kind", GRAPHS)
def test_hooks_on_all_modules_do_not_run_for_graphs(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(dedent(HOOKED) + dedent(GRAPHS[kind]) + "\nf(torch.ones(2, 4))\n")
    facts = observe(Script(str(path)), tmp_path)
    assert not [fact for fact in facts if isinstance(fact, ProgramRaised)]
    (end,) = [fact for fact in facts if isinstance(fact, RunFinished)]
    assert end.status == "finished"


CHILDREN = """
    import torch
    import torch.multiprocessing as mp

    @torch.compile
    def work(x):
        return x * 2

    def child(number):
        if number:
            work(torch.ones(2))

    if __name__ == "__main__":
        context = mp.get_context("{way}")
        children = [context.Process(target=child, args=(number,)) for number in range(3)]
        for one in children:
            one.start()
        for one in children:
            one.join()
"""


@pytest.mark.parametrize(("way", "count"), [("fork", 2), ("spawn", 3)])
def test_processes_that_are_not_observed_are_counted(way: str, count: int, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(dedent(CHILDREN.format(way=way)))
    facts = observe(Script(str(path)), tmp_path)
    (problem,) = [fact for fact in facts if isinstance(fact, TargetProblem)]
    assert problem.message.startswith(f"{count} processes that the program started were not observed")
    (nothing,) = [fact for fact in facts if isinstance(fact, CallsWithoutGraph)]
    assert nothing.elsewhere
