"""Recompilations in the worst case: each function keeps its newest compilation only, and has no limit."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from forked import observe
from fullgraph_compiler.backends.profiler import CompileProfiler, Recompilation
from fullgraph_compiler.compat import dynamo_compat
from fullgraph_compiler.facts import FrameCompiled, FrameStarted, Recompile, RecompileLimit, Script
from in_child import in_child

PROGRAM = """\
import torch

def whole(x):
    return x.sin() + 1

def broken(x):
    y = x.sin()
    torch._dynamo.graph_break()
    return y.cos()

class Scale(torch.nn.Module):
    by = 1

    def forward(self, x):
        return x * self.by

def call(function, size):
    return function(torch.ones(size))
"""


@pytest.fixture
def program(tmp_path: Path) -> dict[str, Any]:
    """The names of a program that has a file."""
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    linecache.checkcache(str(path))
    torch._dynamo.reset()  # compile ids begin anew, whatever other tests have compiled
    namespace: dict[str, Any] = {"path": str(path)}
    exec(compile(PROGRAM, str(path), "exec"), namespace)
    return namespace


def alternate(program: dict[str, Any], compiled: Callable[..., Any], times: int = 3) -> None:
    """Call a function with two sizes in turn, none of which becomes dynamic."""
    torch._dynamo.config.automatic_dynamic_shapes = False
    for _ in range(times):
        for size in (8, 9):
            program["call"](compiled, size)


def told(recompilation: Recompilation) -> list[Any]:
    failure = recompilation.failure
    return [failure.source, failure.changed, failure.dimension, failure.expected, failure.actual]


def test_each_change_of_a_size_compiles_again(program: dict[str, Any]) -> None:
    def profile() -> list[Any]:
        with CompileProfiler() as profiler:
            alternate(program, torch.compile(program["whole"], backend=profiler))
        (function,) = profiler.get_metrics().functions
        calls = {(r.caller.row, r.failure.stack[-1].row) for r in function.recompilations if r.caller}
        ids = [[r.failure.compile_id, r.compile_id] for r in function.recompilations]
        again = [told(r) for r in function.recompilations]
        kept = [function.function, function.row, function.compilations, function.versions]
        return [kept, again, ids, sorted(calls), function.seconds > 0]

    kept, again, ids, calls, took = in_child(profile)
    assert kept == ["whole", 3, 6, 2], "two compilations would do if both were kept"
    change = ["L['x']", "size", 0]
    assert again == [[*change, *values] for values in (("8", "9"), ("9", "8")) * 3][:5]
    assert ids == [[f"0/{number}", f"0/{number + 1}"] for number in range(5)], "against the newest one only"
    assert calls == [[18, 4]], "the line that called, and the line that uses the value"
    assert took


def test_an_attribute_that_changes_back_and_forth_tells_both_values(program: dict[str, Any]) -> None:
    def profile() -> list[Any]:
        with CompileProfiler() as profiler:
            module = torch.compile(program["Scale"](), backend=profiler)
            for by in (1, 2, 1, 1):
                module.by = by
                program["call"](module, 2)
        (function,) = profiler.get_metrics().functions
        return [[r.failure.source, r.failure.expected, r.failure.actual] for r in function.recompilations]

    assert in_child(profile) == [["L['self'].by", "1", "2"], ["L['self'].by", "2", "1"]]


def test_other_backends_keep_their_compilations(program: dict[str, Any]) -> None:
    def profile() -> list[int]:
        compiled = []

        def count(graph: Any, _: Any) -> Any:
            compiled.append(graph)
            return graph.forward

        other = torch.compile(program["whole"], backend=count)
        alternate(program, other)
        before = len(compiled)
        with CompileProfiler() as profiler:
            alternate(program, torch.compile(program["whole"], backend=profiler))
            alternate(program, other)
        (function,) = profiler.get_metrics().functions
        return [before, len(compiled), len(function.recompilations)]

    assert in_child(profile) == [2, 2, 5]


@pytest.mark.parametrize("setting", ["recompile_limit", "accumulated_recompile_limit"])
def test_no_limit_is_hit(program: dict[str, Any], setting: str) -> None:
    def profile() -> list[int]:
        setattr(torch._dynamo.config, setting, 1)
        with CompileProfiler() as profiler:
            alternate(program, torch.compile(program["whole"], backend=profiler, fullgraph=True))
        return [profiler.frame_count, getattr(torch._dynamo.config, setting)]

    assert in_child(profile) == [6, 1]


def test_once_it_is_closed_compilations_are_kept_again(program: dict[str, Any]) -> None:
    def profile() -> list[int]:
        profiler = CompileProfiler()
        compiled = torch.compile(program["whole"], backend=profiler)
        alternate(program, compiled)
        profiler.close()
        torch.compiler.reset()
        alternate(program, compiled)
        entries = torch._C._dynamo.eval_frame._debug_get_cache_entry_list(program["whole"].__code__)
        return [profiler.frame_count, profiler.get_metrics().recompilations, len(entries)]

    assert in_child(profile) == [6, 5, 2]


def test_a_reset_in_between_loses_nothing(program: dict[str, Any]) -> None:
    def profile() -> list[int]:
        with CompileProfiler() as profiler:
            for _ in range(2):
                alternate(program, torch.compile(program["broken"], backend=profiler), times=1)
                torch.compiler.reset()
        (function,) = profiler.get_metrics().functions
        return [function.compilations, len(function.recompilations), function.versions]

    assert in_child(profile) == [8, 4, 2]


def test_the_report_has_a_table_of_breaks_and_one_of_each_recompilation(
    program: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    def profile() -> list[Any]:
        with CompileProfiler() as profiler:
            alternate(program, torch.compile(program["broken"], backend=profiler), times=2)
        return [profiler.report(), profiler.frame_count, profiler.op_count]

    text, frames, ops = in_child(profile)
    assert (frames, ops) == (8, 8)
    seconds = text.split("broken    program.py:6           6     ")[1].split()[0]
    assert float(seconds) > 0
    assert text.replace(seconds, "0.50") == (
        "Torchdynamo Profiler Report\n"
        "===========================\n"
        "\n"
        "Graph Breaks\n"
        "------------\n"
        "A graph ends where Dynamo meets code that it cannot trace; fullgraph=True stops at the first.\n"
        "\n"
        "Count  Code    Place         Reason\n"
        "    4  GB0025  program.py:8  Call to `torch._dynamo.graph_break()`\n"
        "\n"
        "Recompilation\n"
        "-------------\n"
        "Each function keeps only its newest compilation, and recompiles when one of its guards fails.\n"
        "\n"
        "Function  Place         Recompiles  Seconds  Different compilations\n"
        "broken    program.py:6           6     0.50                       2\n"
        "\n"
        "broken (program.py:6)\n"
        "  Compile id  Guard                     Expected  Actual  First used    Called from\n"
        "  0/1         size of x at dimension 0  8         9       program.py:7  program.py:18\n"
        "  1/1         size of y at dimension 0  8         9       program.py:9  program.py:18\n"
        "  0/2         size of x at dimension 0  9         8       program.py:7  program.py:18\n"
        "  1/2         size of y at dimension 0  9         8       program.py:9  program.py:18\n"
        "  0/3         size of x at dimension 0  8         9       program.py:7  program.py:18\n"
        "  1/3         size of y at dimension 0  8         9       program.py:9  program.py:18\n"
        "\n"
        "Set torch._dynamo.config.recompile_limit to 2 or more to avoid being cache limited.\n"
    )


def test_a_report_of_nothing_says_so(program: dict[str, Any]) -> None:
    def profile() -> str:
        with CompileProfiler() as profiler:
            program["call"](torch.compile(program["whole"], backend=profiler), 8)
        return profiler.report()

    lines = in_child(profile).splitlines()
    assert "There are none." in lines
    assert lines[-1] == "Nothing was compiled more than once."


def test_a_run_that_profiles_keeps_one_compilation_of_each_frame(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        f"{PROGRAM}\n"
        "torch._dynamo.config.automatic_dynamic_shapes = False\n"
        "torch._dynamo.config.recompile_limit = 1\n"
        "compiled = torch.compile(broken)\n"
        "for size in (8, 9) * 3:\n"
        "    call(compiled, size)\n"
    )
    facts = observe(Script(str(script)), tmp_path, depth="recompiles")
    again = [fact for fact in facts if isinstance(fact, Recompile)]
    assert [len(fact.failures) for fact in again] == [1] * 10
    assert not any(isinstance(fact, RecompileLimit) for fact in facts)
    assert sum(isinstance(fact, FrameCompiled) for fact in facts) == 12
    callers = {fact.stack[-1].function for fact in facts if isinstance(fact, FrameStarted)}
    assert callers == {"call"}, "also of the part after the break"


def test_torch_2_11_has_compilations_in_a_chain() -> None:
    def compile_twice() -> list[Any]:
        import torch._dynamo.convert_frame as convert_frame

        told: list[list[str]] = []
        retired: list[str] = []

        class State:
            def invalidate(self, entry: Any, guards: Any) -> None:
                retired.append(entry.compile_id)
                entry.guard_manager = guards

        def entry(compile_id: str, backend: Any, following: Any) -> Any:
            guards = SimpleNamespace(extra_state=State())
            return SimpleNamespace(
                guard_manager=guards, backend=backend, code=None, compile_id=compile_id, next=following
            )

        def reasons(first: Any, _frame: Any, _backend: Any) -> None:
            ids = []
            while first is not None:
                ids.append(first.compile_id)
                first = first.next
            told.append(ids)

        def ours(graph: Any, _: Any) -> Any:
            return graph.forward

        def compile_like_torch_2_11(compiler_fn: Any, cache_entry: Any) -> Any:
            convert_frame.get_and_maybe_log_recompilation_reasons(cache_entry, None, compiler_fn)
            return convert_frame.exceeds_recompile_limit("size", "id")

        convert_frame.get_and_maybe_log_recompilation_reasons = reasons
        convert_frame.exceeds_recompile_limit = lambda *_: (True, "limit")
        cache = entry("0/1", ours, entry("0/0", reasons, None))
        with dynamo_compat.keeping_one_entry(ours):
            answers = [compile_like_torch_2_11(backend, cache) for backend in (ours, ours, reasons)]
        return [told, retired, answers]

    told, retired, answers = in_child(compile_twice)
    assert told == [["0/1"], [], ["0/1", "0/0"]]
    assert retired == ["0/1"], "once, and not that of another backend"
    assert answers == [[False, ""], [False, ""], [True, "limit"]]
